#include <math.h>

/* GELU */
void gelu(float y[65536], const float x[65536])
{
  for (int i = 0; i < 65536; i++)
    y[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
}
