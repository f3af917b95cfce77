#include <stdio.h>
static float a[16];
int main(void)
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[i] = 2 * i;
#pragma endscop
  printf("%g %g\n", a[0], a[15]);
  return 0;
}
// expect: UnsupportedConstructError | line 3 | the loops are in main
