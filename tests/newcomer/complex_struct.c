typedef struct {
  float re, im;
} cfloat;
void scale(cfloat x[256], const cfloat y[256])
{
  for (int i = 0; i < 256; i++) {
    float re = x[i].re * y[i].re - x[i].im * y[i].im;
    float im = x[i].re * y[i].im + x[i].im * y[i].re;
    x[i].re = re;
    x[i].im = im;
  }
}
