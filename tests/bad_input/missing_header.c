#include "does_not_exist.h"
void f(float a[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[i] = 0;
#pragma endscop
}
// expect: SourceError | line 1 | name the folder of the header with -I DIR
