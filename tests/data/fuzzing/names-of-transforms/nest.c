void nest(float out[1][3][4][16], const float flt[5][5][20][16], const float inp[1][9][11][20])
{
#pragma scop
  for (int f = 0; f < 16; f++) {
    for (int y = 0; y < 3; y++) {
      for (int r = 0; r < 5; r++) {
        for (int s = 0; s < 5; s++) {
          for (int c = 0; c < 20; c++) {
            for (int x = 0; x < 4; x++) {
              out[0][y][x][f] += inp[0][2 * y + r][2 * x + s][c] * flt[r][s][c][f];
            }
          }
        }
      }
    }
  }
#pragma endscop
}
