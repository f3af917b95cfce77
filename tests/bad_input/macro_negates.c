#define NEGATIVE(x) (-(x))
void f(float a[64], const float x[64])
{
#pragma scop
  for (unsigned i = 0; i < 64; i++)
    if (NEGATIVE(i) < 5)
      a[i] = x[63 + NEGATIVE(i)];
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | wraps around where a macro negates it
