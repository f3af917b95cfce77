#pragma GCC diagnostic ignored "-Wunused-variable"


/* A product of sizes that no vector and no tile divides, summed in a local scalar. */
void matmul_tails(int n, double C[37][n], const double A[37][41], const double B[41][n], double factor)
{
  if (n == 50) {
    for (int i = 0; i <= 36; ++i) {
      for (int j = 0; j <= 49; ++j) {
        C[i][j] = 0;
        for (int k = 0; k <= 40; ++k) {
          C[i][j] += A[i][k] * B[k][j];
        }
        C[i][j] = factor * C[i][j];
      }
    }
  } else {
  for (int i = 0; i < 37; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < 41; k++)
        sum += A[i][k] * B[k][j];
      C[i][j] = factor * sum;
    }
  }
}
