#include <polydl/bfloat16.h>
void f(const float a[16], bfloat16 b[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    b[i] = a[i];
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | bits of a bfloat16
