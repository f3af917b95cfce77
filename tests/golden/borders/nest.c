void borders(float out[9][11][32], const float w[3][3][32], const float in[9][11][32])
{
#pragma scop
  for (int y = 0; y < 9; ++y)
    for (int x = 0; x < 11; ++x)
      for (int c = 0; c < 32; ++c)
        out[y][x][c] = 0.0f;
  for (int y = 0; y < 9; ++y)
    for (int x = 0; x < 11; ++x)
      for (int r = 0; r < 3; ++r)
        if (y + r >= 1 && y + r < 10)
          for (int s = 0; s < 3; ++s)
            if (x + s >= 1 && x + s < 12)
              for (int c = 0; c < 32; ++c)
                out[y][x][c] += w[r][s][c] * in[y + r - 1][x + s - 1][c];
#pragma endscop
}
