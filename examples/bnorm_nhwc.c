/* Batch normalization for inference, then ReLU, on one image of 64 channels and 56x56 with the channels innermost (NHWC).
 *
 * The mean, the variance and the learned parameters of each channel are folded into one scale and one shift. Override a
 * size with -D, for example -D nImg=28.
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

void bnorm_nhwc(float output[nImg][height][width][nChannels], const float input[nImg][height][width][nChannels],
                const float scale[nChannels], const float shift[nChannels])
{
#pragma scop
  for (int img = 0; img < nImg; ++img)
    for (int h = 0; h < height; ++h)
      for (int w = 0; w < width; ++w)
        for (int c = 0; c < nChannels; ++c)
          output[img][h][w][c] = input[img][h][w][c] * scale[c] + shift[c];

  for (int img = 0; img < nImg; ++img)
    for (int h = 0; h < height; ++h)
      for (int w = 0; w < width; ++w)
        for (int c = 0; c < nChannels; ++c)
          output[img][h][w][c] = output[img][h][w][c] > 0.0f ? output[img][h][w][c] : 0.0f;
#pragma endscop
}
