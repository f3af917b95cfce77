#include <math.h>

/* The least and the greatest element of each row */
void row_ranges(float least[512], float most[512], const float x[512][512])
{
  for (int i = 0; i < 512; i++) {
    least[i] = x[i][0];
    most[i] = x[i][0];
    for (int j = 1; j < 512; j++) {
      least[i] = fminf(least[i], x[i][j]);
      most[i] = fmaxf(most[i], x[i][j]);
    }
  }
}
