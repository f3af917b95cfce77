#include <polydl/bfloat16.h>
void f(float a[16], const bfloat16 b[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[i] += bfloat16_to_float(b[i]) * b[i];
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | bits of a bfloat16
