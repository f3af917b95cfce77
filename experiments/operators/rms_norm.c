#include <math.h>

/* RMS normalization */
void rms_norm(float y[256][1024], const float x[256][1024], const float scale[1024])
{
  for (int i = 0; i < 256; i++) {
    float sum = 0;
    for (int j = 0; j < 1024; j++)
      sum += x[i][j] * x[i][j];
    float factor = 1.0f / sqrtf(sum / 1024 + 1e-5f);
    for (int j = 0; j < 1024; j++)
      y[i][j] = x[i][j] * factor * scale[j];
  }
}
