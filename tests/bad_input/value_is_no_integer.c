void f(int n, float a[n])
{
#pragma scop
  for (int i = 0; i < n; ++i)
    a[i] = 0;
#pragma endscop
}
// expect: OptionError | line 1 | integer | n=many
