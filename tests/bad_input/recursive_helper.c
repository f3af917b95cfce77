static float power(float x, int n) { return n > 0 ? x * power(x, n - 1) : 1; }
void f(float a[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[i] = power(a[i], 3);
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | recursive
