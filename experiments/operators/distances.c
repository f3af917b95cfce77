/* Squared distances of rows */
void distances(float d[128][128], const float a[128][64], const float b[128][64])
{
  for (int i = 0; i < 128; i++)
    for (int j = 0; j < 128; j++) {
      d[i][j] = 0;
      for (int k = 0; k < 64; k++)
        d[i][j] += (a[i][k] - b[j][k]) * (a[i][k] - b[j][k]);
    }
}
