void f(float a[100], const float b[100])
{
#pragma scop
  for (short i = 0, n = 100; i < n; i++)
    a[i] = b[i] * 2.0f;
#pragma endscop
}
// expect: UnsupportedConstructError | line 4 | declares n beside its counter
