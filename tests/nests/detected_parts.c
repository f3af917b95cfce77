// No pragma: the first loop is found, and an integer that changes behind it, in front of other loops, is data to it.
#include <stdio.h>
void nest(float a[8], float b[8], const float x[8], const int p[2])
{
  int scale = p[0];
  for (int i = 0; i < 8; i++)
    a[i] = x[i] * scale;
  puts("");
  scale = p[1];
  for (int i = 0; i < 8; i++)
    b[i] = a[i] * scale;
}
