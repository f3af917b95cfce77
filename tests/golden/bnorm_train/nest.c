/* Batch normalization as in training, then ReLU: sums in double, each channel's while it is in a cache. */
#include <math.h>
#define COUNT (4.0 * 28 * 28)

void bnorm_train(float output[4][4][28][28][16], const float input[4][4][28][28][16], const float gamma[4][16],
                 const float beta[4][16])
{
  float scale[4][16], shift[4][16];
  double sum[4][16], squares[4][16];
#pragma scop
  for (int tile = 0; tile < 4; ++tile)
    for (int c = 0; c < 16; ++c) {
      sum[tile][c] = 0.0;
      squares[tile][c] = 0.0;
    }
  for (int img = 0; img < 4; ++img)
    for (int tile = 0; tile < 4; ++tile)
      for (int h = 0; h < 28; ++h)
        for (int w = 0; w < 28; ++w)
          for (int c = 0; c < 16; ++c) {
            sum[tile][c] += input[img][tile][h][w][c];
            squares[tile][c] += input[img][tile][h][w][c] * input[img][tile][h][w][c];
          }
  for (int tile = 0; tile < 4; ++tile)
    for (int c = 0; c < 16; ++c) {
      double mean = sum[tile][c] / COUNT;
      scale[tile][c] = gamma[tile][c] / sqrtf((float)(squares[tile][c] / COUNT - mean * mean) + 1e-5f);
      shift[tile][c] = beta[tile][c] - (float)mean * scale[tile][c];
    }
  for (int img = 0; img < 4; ++img)
    for (int tile = 0; tile < 4; ++tile)
      for (int h = 0; h < 28; ++h)
        for (int w = 0; w < 28; ++w)
          for (int c = 0; c < 16; ++c)
            output[img][tile][h][w][c] =
                fmaxf(0.0f, input[img][tile][h][w][c] * scale[tile][c] + shift[tile][c]);
#pragma endscop
}
