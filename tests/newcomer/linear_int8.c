#include <stdint.h>
#define M 16
#define N 32
#define K 64
void linear(const int8_t x[M][K], const int8_t w[N][K], const int32_t bias[N], int8_t y[M][N])
{
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      int32_t acc = bias[j];
      for (int k = 0; k < K; k++)
        acc += x[i][k] * w[j][k];
      acc = acc >> 8;
      if (acc > 127) acc = 127;
      if (acc < -128) acc = -128;
      y[i][j] = (int8_t)acc;
    }
}
