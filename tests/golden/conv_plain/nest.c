/* A convolution in plain layouts, NCHW and KCRS. */
void conv_plain(float out[2][32][10][18], const float flt[32][16][3][3], const float in[2][16][12][20])
{
#pragma scop
  for (int n = 0; n < 2; n++)
    for (int k = 0; k < 32; k++)
      for (int c = 0; c < 16; c++)
        for (int y = 0; y < 10; y++)
          for (int x = 0; x < 18; x++)
            for (int r = 0; r < 3; r++)
              for (int s = 0; s < 3; s++)
                out[n][k][y][x] += flt[k][c][r][s] * in[n][c][y + r][x + s];
#pragma endscop
}
