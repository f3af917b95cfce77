void f(int n, float a[8])
{
  n = n - 1;
#pragma scop
  for (int i = 0; i < n; ++i)
    a[i] = 0;
#pragma endscop
}
// expect: UnsupportedConstructError | line 3 | changes | n=8
