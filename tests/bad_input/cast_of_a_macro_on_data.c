#include <stddef.h>
#define IDX(i, j) ((size_t)(i) * 16 + (j))
void f(float a[256], const int b[16])
{
#pragma scop
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 16; j++)
      a[IDX(i, j)] = IDX(b[i], j);
#pragma endscop
}
// expect: UnsupportedConstructError | line 8 | a subscript isn't affine
