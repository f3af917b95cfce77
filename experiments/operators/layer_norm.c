#include <math.h>

/* Layer normalization */
void layer_norm(float y[256][768], const float x[256][768], const float scale[768], const float shift[768])
{
  for (int i = 0; i < 256; i++) {
    float mean = 0, variance = 0;
    for (int j = 0; j < 768; j++)
      mean += x[i][j];
    mean /= 768;
    for (int j = 0; j < 768; j++)
      variance += (x[i][j] - mean) * (x[i][j] - mean);
    float factor = 1.0f / sqrtf(variance / 768 + 1e-5f);
    for (int j = 0; j < 768; j++)
      y[i][j] = (x[i][j] - mean) * factor * scale[j] + shift[j];
  }
}
