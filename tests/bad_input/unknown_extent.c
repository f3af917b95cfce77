void f(int n, int m, float a[n][m])
{
#pragma scop
  for (int i = 0; i < 4; ++i)
    a[i][0] = 0;
#pragma endscop
}
// expect: UnknownSizeError | line 1 | -D m=VALUE
