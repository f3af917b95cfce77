#include <math.h>
void f(float a[16], const float b[16], float c[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    if (sqrtf(b[i]) > 2) {
      a[i] = b[i];
      c[i] = i;
    }
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | condition
