/* Rows of 7 and 5 pixels: the image of each channel is as one row. */
#include <math.h>
void instance_norm(float y[3][7][5], const float x[3][7][5], float mean[3])
{
#pragma scop
  for (int c = 0; c < 3; c++) {
    mean[c] = 0;
    for (int i = 0; i < 7; i++)
      for (int j = 0; j < 5; j++)
        mean[c] += x[c][i][j];
    mean[c] /= 35;
    for (int i = 0; i < 7; i++)
      for (int j = 0; j < 5; j++)
        y[c][i][j] = fmaxf(x[c][i][j] - mean[c], 0.0f);
  }
#pragma endscop
}
