#include <math.h>
void softmax(int rows, int cols, const float x[rows][cols], float y[rows][cols])
{
  for (int i = 0; i < rows; i++) {
    float max = -INFINITY, sum = 0;
    for (int j = 0; j < cols; j++)
      if (x[i][j] > max)
        max = x[i][j];
    for (int j = 0; j < cols; j++) {
      y[i][j] = expf(x[i][j] - max);
      sum += y[i][j];
    }
    for (int j = 0; j < cols; j++)
      y[i][j] /= sum;
  }
}
