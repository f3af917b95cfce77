void f(float a[8])
{
  for (int i = 0; i < 4000000000; i++)
    a[0] += 1;
}
// expect: UnsupportedConstructError | line 3 | would have to reach 4000000000, and the largest int is 2147483647
