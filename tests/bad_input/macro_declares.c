#define STEP(x, y) { float t_ = (x) + (y); (x) = t_ * t_; }
void f(float a[64], const float b[64])
{
#pragma scop
  for (int i = 0; i < 64; ++i) {
    STEP(a[i], b[i])
    STEP(a[i], b[63 - i])
  }
#pragma endscop
}
// expect: UnsupportedConstructError | line 7 | t_ is declared more than once
