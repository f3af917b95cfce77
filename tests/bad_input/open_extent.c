void f(float a[16], float *b)
{
  b[3] = 1;
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[i] = 0;
#pragma endscop
}
// expect: UnknownSizeError | line 1 | size
