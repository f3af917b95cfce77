/* A row is multiplied by a matrix, in a vector that each row uses anew, and takes its place. */
void rows(double a[4][12][16], double b[16][16], double row[16]) {
#pragma scop
  for (int r = 0; r < 4; r++)
    for (int q = 0; q < 12; q++) {
      for (int p = 0; p < 16; p++) {
        row[p] = 0;
        for (int s = 0; s < 16; s++)
          row[p] += a[r][q][s] * b[s][p];
      }
      for (int p = 0; p < 16; p++)
        a[r][q][p] = row[p];
    }
#pragma endscop
}
