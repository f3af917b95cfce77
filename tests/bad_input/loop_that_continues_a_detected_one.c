void f(float a[1003])
{
  int i;
  for (i = 0; i < 1003 - 3; i += 4)
    a[i] += 1;
  for (; i < 1003; i++)
    a[i] += 1;
}
// expect: UnsupportedConstructError | line 6 | behind `i + 3 < n; i += 4` from 0, for (int j = n / 4 * 4; j < n; j++)
