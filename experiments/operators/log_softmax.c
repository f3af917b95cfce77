#include <math.h>

/* Logarithm of the softmax of each row */
void log_softmax(float y[256][1000], const float x[256][1000])
{
  for (int i = 0; i < 256; i++) {
    float most = x[i][0];
    for (int j = 1; j < 1000; j++)
      most = fmaxf(most, x[i][j]);
    float sum = 0;
    for (int j = 0; j < 1000; j++)
      sum += expf(x[i][j] - most);
    float shift = logf(sum) + most;
    for (int j = 0; j < 1000; j++)
      y[i][j] = x[i][j] - shift;
  }
}
