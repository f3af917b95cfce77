void f(int n, float *a)
{
#pragma scop
  for (int i = 0; i < n; ++i)
    a[i] = 0;
#pragma endscop
}
// expect: UnknownSizeError | line 4 | -D n=VALUE
