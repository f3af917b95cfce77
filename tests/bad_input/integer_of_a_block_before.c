void f(float a[64], const float b[64], const int p[4])
{
  {
    int s = p[0];
    a[0] = s;
  }
  for (int i = 0; i < 64; ++i)
    a[i] += 2 * b[i];
}
// expect: UnsupportedConstructError | line 4 | it depends on data
