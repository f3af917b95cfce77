void f(float a[128][128])
{
  for (int j = 0; j < 128; j++)
    for (signed char i = 0; i <= j; i++)
      a[j][i] += 1;
}
// expect: UnsupportedConstructError | line 4 | wraps around
