void f(float a[1003])
{
  int i;
  for (i = 0; i < 1003 - 3; i += 4)
    a[i] += 1;
  for (; i < 1003; i++)
    a[i] += 1;
}
// expect: UnsupportedConstructError | line 6 | a counter that starts at a value of its own
