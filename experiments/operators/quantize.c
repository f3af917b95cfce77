#include <math.h>

/* Floats rounded to bytes */
void quantize(signed char y[65536], const float x[65536])
{
  for (int i = 0; i < 65536; i++)
    y[i] = (signed char)fminf(fmaxf(rintf(x[i] * 12.7f), -128.0f), 127.0f);
}
