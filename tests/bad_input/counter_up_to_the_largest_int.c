void f(float a[8])
{
  for (int i = 2147483640; i <= 2147483647; i++)
    a[i - 2147483640] += 1;
}
// expect: UnsupportedConstructError | line 3 | would have to reach 2147483648
