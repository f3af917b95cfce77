#include <math.h>

/* The greatest element of each row */
void row_maxima(float most[512], const float x[512][1024])
{
  for (int i = 0; i < 512; i++) {
    most[i] = x[i][0];
    for (int j = 1; j < 1024; j++)
      most[i] = fmaxf(most[i], x[i][j]);
  }
}
