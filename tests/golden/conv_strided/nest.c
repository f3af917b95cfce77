void conv_strided(float out[8][11][24], const float flt[3][3][16][24], const float in[17][23][16]) {
#pragma scop
  for (int k = 0; k < 24; k++)
    for (int y = 0; y < 8; y++)
      for (int x = 0; x < 11; x++)
        for (int c = 0; c < 16; c++)
          for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++)
              out[y][x][k] += in[2 * y + r][2 * x + s][c] * flt[r][s][c][k];
#pragma endscop
}
