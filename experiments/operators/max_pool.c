#include <math.h>

/* Maxima of 2 by 2 pixels */
void max_pool(float y[32][56][56], const float x[32][112][112])
{
  for (int c = 0; c < 32; c++)
    for (int i = 0; i < 56; i++)
      for (int j = 0; j < 56; j++) {
        float most = x[c][2 * i][2 * j];
        for (int p = 0; p < 2; p++)
          for (int q = 0; q < 2; q++)
            most = fmaxf(most, x[c][2 * i + p][2 * j + q]);
        y[c][i][j] = most;
      }
}
