#include <stdio.h>
void f(float a[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i) {
    a[i] = 0;
    printf("%d\n", i);
  }
#pragma endscop
}
// expect: UnsupportedConstructError | line 7 | printf
