void conv_first(float y[10][10][32], const float w[3][5][3][32], const float x[20][23][3])
{
#pragma scop
  for (int i = 0; i < 10; i++)
    for (int j = 0; j < 10; j++)
      for (int k = 0; k < 32; k++)
        y[i][j][k] = 0.0f;
  for (int i = 0; i < 10; i++)
    for (int r = 0; r < 3; r++)
      if (2 * i + r >= 1)
        for (int j = 0; j < 10; j++)
          for (int s = 0; s < 5; s++)
            for (int c = 0; c < 3; c++)
              for (int k = 0; k < 32; k++)
                y[i][j][k] += w[r][s][c][k] * x[2 * i + r - 1][2 * j + s][c];
#pragma endscop
}
