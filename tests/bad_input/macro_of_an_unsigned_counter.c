#define WEIGHTED(x) ((x) * i)
void f(float c[64], int a[64])
{
#pragma scop
  for (unsigned i = 0; i < 64; i++)
    c[i] += WEIGHTED(a[i]);
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | i in a macro would lose its type
