#include <math.h>

static float silu(float x)
{
  const float weight = 1.0f + expf(-x);
  return x / weight;
}

static inline float relu(float x) { return x > 0 ? x : 0; }

void layer(const float A[40][24], const float B[24][32], const float bias[32], float C[40][32], float D[40][32])
{
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 32; j++) {
      float s = bias[j];
      for (int k = 0; k < 24; k++)
        s += A[i][k] * B[k][j];
      C[i][j] = relu(s);
      D[i][j] = silu(s);
    }
}
