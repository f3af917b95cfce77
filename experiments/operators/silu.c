#include <math.h>

/* SiLU (swish) */
void silu(float y[65536], const float x[65536])
{
  for (int i = 0; i < 65536; i++)
    y[i] = x[i] / (1.0f + expf(-x[i]));
}
