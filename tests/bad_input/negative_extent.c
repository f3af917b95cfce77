void f(int n, float a[n])
{
#pragma scop
  for (int i = 0; i < n; ++i)
    a[i] = 0;
#pragma endscop
}
// expect: SourceError | line 1 | negative | n=-5
