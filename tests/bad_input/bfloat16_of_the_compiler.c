void f(float c[16], const __bf16 *b)
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    c[i] = b[i];
#pragma endscop
}
// expect: UnsupportedConstructError | line 1 | include <polydl/bfloat16.h>
