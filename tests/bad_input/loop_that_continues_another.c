void f(float a[1003])
{
  int i;
#pragma scop
  for (i = 0; i < 1003 - 3; i += 4)
    a[i] += 1;
  for (; i < 1003; i++)
    a[i] += 1;
#pragma endscop
}
// expect: UnsupportedConstructError | line 7 | behind `i + 3 < n; i += 4` from 0, i = n / 4 * 4
