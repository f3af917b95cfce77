/* A 1x1 convolution whose rows and columns may be one loop: of odd numbers, for no two threads. */
void conv_rows(float output[3][5][7][16], const float filter[3][2][16][16], const float input[2][5][7][16])
{
#pragma scop
  for (int o = 0; o < 3; o++)
    for (int j = 0; j < 5; j++)
      for (int i = 0; i < 7; i++)
        for (int m = 0; m < 16; m++) {
          output[o][j][i][m] = 0;
          for (int t = 0; t < 2; t++)
            for (int k = 0; k < 16; k++)
              output[o][j][i][m] += filter[o][t][k][m] * input[t][j][i][k];
        }
#pragma endscop
}
