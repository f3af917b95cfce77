/* A convolution that keeps the size of the image, as it is often written: what lies beyond the border counts as zero,
 * and a condition in the innermost loop finds out. Images, channels, rows, columns (NCHW); filters KCRS.
 *
 * Override a size with -D, for example -D images=1.
 */
#ifndef images
#define images 1
#endif
#ifndef channels
#define channels 256
#endif
#ifndef filters
#define filters 256
#endif
#ifndef height
#define height 14
#endif
#ifndef width
#define width 14
#endif
#ifndef kernel
#define kernel 3
#endif

void conv_same(float output[images][filters][height][width], const float weights[filters][channels][kernel][kernel],
               const float input[images][channels][height][width])
{
#pragma scop
  for (int n = 0; n < images; ++n)
    for (int k = 0; k < filters; ++k)
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
          output[n][k][y][x] = 0.0f;
          for (int c = 0; c < channels; ++c)
            for (int r = 0; r < kernel; ++r)
              for (int s = 0; s < kernel; ++s) {
                int row = y + r - kernel / 2;
                int column = x + s - kernel / 2;
                if (row >= 0 && row < height && column >= 0 && column < width)
                  output[n][k][y][x] += weights[k][c][r][s] * input[n][c][row][column];
              }
        }
#pragma endscop
}
