#define RAISE(x, i, v) do { if ((v) > x##s[i]) x##s[i] = (v); } while (0)
void f(int as[64], const int b[64])
{
#pragma scop
  for (int i = 0; i < 64; i++) {
    RAISE(a, i, b[i] * 2);
  }
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | the condition stands in the macro RAISE
