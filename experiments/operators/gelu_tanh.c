#include <math.h>

/* GELU by its approximation */
void gelu_tanh(float y[65536], const float x[65536])
{
  for (int i = 0; i < 65536; i++)
    y[i] = 0.5f * x[i] * (1.0f + tanhf(0.79788456f * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
}
