#define RAISE(x, v) do { if ((v) > (x)) (x) = (v); } while (0)
void f(int a[64], const int b[64])
{
#pragma scop
  for (int i = 0; i < 64; i++) {
    RAISE(a[i], b[i] * 2);
  }
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | the condition stands in the macro RAISE
