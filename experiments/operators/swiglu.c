#include <math.h>

/* SwiGLU */
void swiglu(float y[256][1024], const float gate[256][1024], const float up[256][1024])
{
  for (int i = 0; i < 256; i++)
    for (int j = 0; j < 1024; j++)
      y[i][j] = gate[i][j] / (1.0f + expf(-gate[i][j])) * up[i][j];
}
