#define SAME(i) ((i) * 1000000000UL / 1000000000UL)
#define PUT(i) a[i] = SAME(i)
void f(float a[64])
{
#pragma scop
  for (unsigned i = 0; i < 64; i++)
    PUT(i);
#pragma endscop
}
// expect: UnsupportedConstructError | line 7 | i in a macro would lose its type
