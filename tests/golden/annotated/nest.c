// A microkernel that is called between loops, with the loops that it equals (the comment holds a u).
#define B 3
void kernel(float *c, const float *a, const float *b, int stride);
void kernel(float *c, const float *a, const float *b, int stride)
{
  for (int i = 0; i < B; ++i)
    for (int j = 0; j < B; ++j)
      for (int k = 0; k < B; ++k)
        c[i * stride + j] += a[i * stride + k] * b[k * stride + j];
}
void nest(float c[6][6], const float a[6][6], const float b[6][6])
{
#pragma scop
  for (int it = 0; it < 6; it += B)
    for (int jt = 0; jt < 6; jt += B)
      for (int kt = 0; kt < 6; kt += B) {
        #pragma polydl microkernel(for (int i = 0; i < B; ++i) for (int j = 0; j < B; ++j) \
            for (int k = 0; k < B; ++k)                                                  \
              c[it + i][jt + j] += a[it + i][kt + k] * b[kt + k][jt + j];)
        kernel(&c[it][jt], /* not in place */ &a[it][kt],
               &b[kt][jt], 6); // stride 6
      }
  for (int i = 0; i < 6; ++i)
    c[i][0] *= 2;
#pragma endscop
}
