void f(float *a)
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    *(a + i) = 0;
#pragma endscop
}
// expect: UnsupportedConstructError | line 5 | dereferenc
