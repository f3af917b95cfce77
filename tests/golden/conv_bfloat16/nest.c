#include <polydl/bfloat16.h>

#define K 64
#define C 64
#define N 14

void conv_bfloat16(bfloat16 output[N][N][K], const bfloat16 input[N][N][C / 2][2], const bfloat16 added[N][N][K],
                   const bfloat16 filter[C / 2][K][2], const float bias[K])
{
#pragma scop
  for (int y = 0; y < N; ++y)
    for (int x = 0; x < N; ++x)
      for (int k = 0; k < K; ++k) {
        float sum = 0.0f;
        for (int c = 0; c < C / 2; ++c)
          for (int q = 0; q < 2; ++q)
            sum += bfloat16_to_float(input[y][x][c][q]) * bfloat16_to_float(filter[c][k][q]);
        float value = sum + bias[k] + bfloat16_to_float(added[y][x][k]);
        output[y][x][k] = float_to_bfloat16(value < 0.0f ? 0.0f : value);
      }
#pragma endscop
}
