#include <polydl/bfloat16.h>
void f(float a[16], bfloat16 b)
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[i] *= bfloat16_to_float(b);
#pragma endscop
}
// expect: UnsupportedConstructError | line 2 | a single bfloat16
