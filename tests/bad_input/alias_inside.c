void f(float a[16][16])
{
#pragma scop
  for (int i = 0; i < 16; ++i) {
    float *row = a[i];
    for (int j = 0; j < 16; ++j)
      *row++ = 0;
  }
#pragma endscop
}
// expect: UnsupportedConstructError | line 5 | alias
