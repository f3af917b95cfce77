#include <math.h>
void layer_norm(int rows, int cols, const float x[rows][cols], const float gamma[cols], const float beta[cols],
                float y[rows][cols])
{
  for (int i = 0; i < rows; i++) {
    float mean = 0, var = 0;
    for (int j = 0; j < cols; j++)
      mean += x[i][j];
    mean /= cols;
    for (int j = 0; j < cols; j++)
      var += (x[i][j] - mean) * (x[i][j] - mean);
    var /= cols;
    float scale = 1.0f / sqrtf(var + 1e-5f);
    for (int j = 0; j < cols; j++)
      y[i][j] = (x[i][j] - mean) * scale * gamma[j] + beta[j];
  }
}
