#include <math.h>

/* Softmax of each row */
void softmax(float y[512][1024], const float x[512][1024])
{
  for (int i = 0; i < 512; i++) {
    float most = x[i][0];
    for (int j = 1; j < 1024; j++)
      most = fmaxf(most, x[i][j]);
    float sum = 0;
    for (int j = 0; j < 1024; j++) {
      y[i][j] = expf(x[i][j] - most);
      sum += y[i][j];
    }
    for (int j = 0; j < 1024; j++)
      y[i][j] /= sum;
  }
}
