#include <math.h>

/* Attention of one head: scores, softmax, mixture */
void attention(float y[256][64], float weights[256][256], const float query[256][64], const float key[256][64],
               const float value[256][64])
{
  for (int i = 0; i < 256; i++)
    for (int j = 0; j < 256; j++) {
      weights[i][j] = 0;
      for (int d = 0; d < 64; d++)
        weights[i][j] += query[i][d] * key[j][d];
    }
  for (int i = 0; i < 256; i++) {
    float most = weights[i][0], sum = 0;
    for (int j = 1; j < 256; j++)
      most = fmaxf(most, weights[i][j]);
    for (int j = 0; j < 256; j++) {
      weights[i][j] = expf(0.125f * (weights[i][j] - most));
      sum += weights[i][j];
    }
    for (int j = 0; j < 256; j++)
      weights[i][j] /= sum;
  }
  for (int i = 0; i < 256; i++)
    for (int d = 0; d < 64; d++) {
      y[i][d] = 0;
      for (int j = 0; j < 256; j++)
        y[i][d] += weights[i][j] * value[j][d];
    }
}
