static unsigned off(int i) { return i - 3; }
void f(float y[64], const float x[64])
{
#pragma scop
  for (int i = 0; i < 64; i++)
    y[i] += x[off(i) < 8 ? i : 0];
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | wraps around
