/* Batch normalization for inference, residual add and ReLU, each in a nest of its own: one image of 64 channels, 56x56.
 *
 * Activations are blocked by 16 channels (nChw16c). Fused, the two inputs are read and the output is written once.
 * Override a size with -D, for example -D nImg=28.
 */
#ifndef nImg
#define nImg 1
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

void bnorm_residual(float output[nImg][TILES][height][width][BLOCK], const float input[nImg][TILES][height][width][BLOCK],
                    const float residual[nImg][TILES][height][width][BLOCK], const float scale[TILES][BLOCK],
                    const float shift[TILES][BLOCK])
{
#pragma scop
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
            output[img][tile][h][w][c] = output[img][tile][h][w][c] + residual[img][tile][h][w][c];

  for (int img = 0; img < nImg; ++img)
    for (int tile = 0; tile < TILES; ++tile)
      for (int h = 0; h < height; ++h)
        for (int w = 0; w < width; ++w)
          for (int c = 0; c < BLOCK; ++c)
            output[img][tile][h][w][c] = output[img][tile][h][w][c] > 0.0f ? output[img][tile][h][w][c] : 0.0f;
#pragma endscop
}
