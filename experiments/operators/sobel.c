#include <math.h>

/* Sobel's edges */
void sobel(float y[478][638], const float x[480][640])
{
  for (int i = 0; i < 478; i++)
    for (int j = 0; j < 638; j++) {
      float across = x[i][j + 2] - x[i][j] + 2 * (x[i + 1][j + 2] - x[i + 1][j]) + x[i + 2][j + 2] - x[i + 2][j];
      float down = x[i + 2][j] - x[i][j] + 2 * (x[i + 2][j + 1] - x[i][j + 1]) + x[i + 2][j + 2] - x[i][j + 2];
      y[i][j] = sqrtf(across * across + down * down);
    }
}
