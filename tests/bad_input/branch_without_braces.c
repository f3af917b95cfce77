#include <stdlib.h>
void f(float a[16], const float b[16])
{
  if (getenv("FIRST"))
    a[0] = 2;
  else
    for (int i = 0; i < 16; ++i)
      a[i] = b[i];
}
// expect: UnsupportedConstructError | line 7 | put the branch into braces
