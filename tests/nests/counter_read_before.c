// A function of the C library that writes a loop counter before the region keeps no address of it.
#include <stdio.h>
void nest(float y[8], const float x[8])
{
  int i, k;
  sscanf("3", "%d", &i);
  k = i * 3;
#pragma scop
  for (i = 0; i < 8; i++)
    y[i] = x[i] * k;
#pragma endscop
}
