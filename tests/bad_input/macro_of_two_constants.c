#define TIMES(x) ((x) * m)
void f(float a[64], const float x[64])
{
#pragma scop
  for (int i = 0; i < 64; i++) {
    {
      const int m = 4;
      a[i] = TIMES(x[i]);
    }
    {
      const int m = 8;
      a[i] += TIMES(x[i]);
    }
  }
#pragma endscop
}
// expect: UnsupportedConstructError | line 8 | a macro names m, which is declared more than once
