/* Functions of <math.h> in sums and element by element. */
#include <math.h>
void softmax(float y[20][60], float x[20][60])
{
#pragma scop
  for (int i = 0; i < 20; i++) {
    float most = x[i][0];
    for (int j = 1; j < 60; j++)
      most = fmaxf(most, x[i][j]);
    float sum = 0;
    for (int j = 0; j < 60; j++) {
      y[i][j] = expf(x[i][j] - most);
      sum += y[i][j];
    }
    for (int j = 0; j < 60; j++)
      y[i][j] = sqrtf(y[i][j] / sum);
  }
#pragma endscop
}
