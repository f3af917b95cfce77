#define GET(x) int x = p[0];
void f(float a[64], const float b[64], const int p[4])
{
  GET(s)
  for (int i = 0; i < 64; ++i)
    a[i] += s * b[i];
}
// expect: UnsupportedConstructError | line 4 | it depends on data
