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
// expect: UnsupportedConstructError | line 7 | behind a loop in steps of 4 up to n, i = n / 4 * 4
