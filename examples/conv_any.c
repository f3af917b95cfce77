/* A 3x3 convolution of any number of images, channels and pixels: the sizes are parameters.
 *
 *   polydl library examples/conv_any.c --range N=1..16 --range C=64..512:64 --range F=64..512:64 --range H=7..224 \
 *     --range W=7..224
 */
void conv(int N, int C, int F, int H, int W, float out[N][F][H][W], const float in[N][C][H + 2][W + 2],
          const float filter[F][C][3][3])
{
#pragma scop
  for (int n = 0; n < N; ++n)
    for (int f = 0; f < F; ++f)
      for (int y = 0; y < H; ++y)
        for (int x = 0; x < W; ++x) {
          out[n][f][y][x] = 0;
          for (int c = 0; c < C; ++c)
            for (int p = 0; p < 3; ++p)
              for (int q = 0; q < 3; ++q)
                out[n][f][y][x] += in[n][c][y + p][x + q] * filter[f][c][p][q];
        }
#pragma endscop
}
