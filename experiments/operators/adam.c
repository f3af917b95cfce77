#include <math.h>

/* A step of Adam */
void adam(float weight[65536], float mean[65536], float square[65536], const float gradient[65536])
{
  for (int i = 0; i < 65536; i++) {
    mean[i] = 0.9f * mean[i] + 0.1f * gradient[i];
    square[i] = 0.999f * square[i] + 0.001f * gradient[i] * gradient[i];
    weight[i] -= 0.001f * mean[i] / (sqrtf(square[i]) + 1e-8f);
  }
}
