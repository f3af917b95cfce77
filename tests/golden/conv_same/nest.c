/* A convolution that keeps the size of the image: a condition finds out what lies beyond the border. */
void conv_same(float output[1][32][14][13], const float weights[32][16][3][3], const float input[1][16][14][13])
{
#pragma scop
  for (int n = 0; n < 1; ++n)
    for (int k = 0; k < 32; ++k)
      for (int y = 0; y < 14; ++y)
        for (int x = 0; x < 13; ++x) {
          output[n][k][y][x] = 0.0f;
          for (int c = 0; c < 16; ++c)
            for (int r = 0; r < 3; ++r)
              for (int s = 0; s < 3; ++s) {
                int row = y + r - 1;
                int column = x + s - 1;
                if (row >= 0 && row < 14 && column >= 0 && column < 13)
                  output[n][k][y][x] += weights[k][c][r][s] * input[n][c][row][column];
              }
        }
#pragma endscop
}
