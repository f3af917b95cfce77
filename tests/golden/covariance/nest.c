/* A product in a triangle. */
void covariance(double c[32][32], const double a[8][32]) {
#pragma scop
  for (int i = 0; i < 32; i++)
    for (int j = i; j < 32; j++)
      for (int k = 0; k < 8; k++)
        c[i][j] += a[k][i] * a[k][j];
#pragma endscop
}
