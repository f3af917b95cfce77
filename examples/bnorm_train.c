/* Batch normalization as in training, then ReLU: 28 images of 64 channels and 56x56.
 *
 * Mean and variance of each channel come from one pass over the tensor: the sums (in double) of d and d * d, where d is the
 * distance from the channel's first element. The shift keeps the variance from cancelling out, as the difference of
 * two large numbers would. Activations are blocked by 16 channels (nChw16c). A block of channels is summed up and
 * then normalized while it is still in a cache. Override a size with -D, for example -D nImg=1.
 */
#include <math.h>
#ifndef nImg
#define nImg 28
#endif
#ifndef nChannels
#define nChannels 64
#endif
#ifndef height
#define height 56
#endif
#ifndef width
#define width 56
#endif
#define BLOCK 16
#define TILES (nChannels / BLOCK)
#define COUNT ((double)(nImg * height * width))

void bnorm_train(float output[nImg][TILES][height][width][BLOCK], const float input[nImg][TILES][height][width][BLOCK],
                 const float gamma[TILES][BLOCK], const float beta[TILES][BLOCK], float mean[TILES][BLOCK],
                 float variance[TILES][BLOCK])
{
  float scale[TILES][BLOCK], shift[TILES][BLOCK];
  double sum[TILES][BLOCK], squares[TILES][BLOCK];
#pragma scop
  for (int tile = 0; tile < TILES; ++tile)
    for (int c = 0; c < BLOCK; ++c) {
      sum[tile][c] = 0.0;
      squares[tile][c] = 0.0;
    }

  for (int img = 0; img < nImg; ++img)
    for (int tile = 0; tile < TILES; ++tile)
      for (int h = 0; h < height; ++h)
        for (int w = 0; w < width; ++w)
          for (int c = 0; c < BLOCK; ++c)
            sum[tile][c] += input[img][tile][h][w][c] - input[0][tile][0][0][c];

  for (int img = 0; img < nImg; ++img)
    for (int tile = 0; tile < TILES; ++tile)
      for (int h = 0; h < height; ++h)
        for (int w = 0; w < width; ++w)
          for (int c = 0; c < BLOCK; ++c)
            squares[tile][c] += (input[img][tile][h][w][c] - input[0][tile][0][0][c]) *
                                (input[img][tile][h][w][c] - input[0][tile][0][0][c]);

  for (int tile = 0; tile < TILES; ++tile)
    for (int c = 0; c < BLOCK; ++c) {
      variance[tile][c] = squares[tile][c] / COUNT - (sum[tile][c] / COUNT) * (sum[tile][c] / COUNT);
      mean[tile][c] = sum[tile][c] / COUNT + input[0][tile][0][0][c];
      scale[tile][c] = gamma[tile][c] / sqrtf(variance[tile][c] + 1e-5f);
      shift[tile][c] = beta[tile][c] - mean[tile][c] * scale[tile][c];
    }

  for (int img = 0; img < nImg; ++img)
    for (int tile = 0; tile < TILES; ++tile)
      for (int h = 0; h < height; ++h)
        for (int w = 0; w < width; ++w)
          for (int c = 0; c < BLOCK; ++c)
            output[img][tile][h][w][c] = input[img][tile][h][w][c] * scale[tile][c] + shift[tile][c];

  for (int img = 0; img < nImg; ++img)
    for (int tile = 0; tile < TILES; ++tile)
      for (int h = 0; h < height; ++h)
        for (int w = 0; w < width; ++w)
          for (int c = 0; c < BLOCK; ++c)
            output[img][tile][h][w][c] = output[img][tile][h][w][c] > 0.0f ? output[img][tile][h][w][c] : 0.0f;
#pragma endscop
}
