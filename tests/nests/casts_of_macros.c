// Casts in the definitions of macros that make no difference in subscripts.
#include <stddef.h>
#include <stdint.h>
#define WIDE (size_t)
#define IDX(i, j, ld) ((size_t)(i) * (ld) + (j))
#define A(i, j) a[(int64_t)(i) * 6 + (j)]
#define B(i, j) ((double)b[IDX(i, j, 6)])
#define EVERY(n) ((int)(n) / 2)
void nest(float *a, const float *b, float *c)
{
#pragma scop
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) {
      A(i, j) = B(j, i);
      c[IDX(IDX(0, i, 9), j, 6)] = A(j, i) + (int64_t)b[(size_t)i] + b[WIDE i];
    }
  for (uint32_t k = 0; k < EVERY(13); ++k)
    c[IDX(k, 0, 6)] += b[k];
#pragma endscop
}
