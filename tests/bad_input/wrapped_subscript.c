#include <stddef.h>
void f(double u[64], double v[32])
{
#pragma scop
  for (int i = 0; i < 32; ++i)
    v[i] = u[(size_t)(i - 1) % 40 + 1];
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | wraps around
