#define N 64
#define STEPS 4
void jacobi(double u[N][N], const double f[N][N])
{
  static double tmp[N][N];
  for (int t = 0; t < STEPS; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        tmp[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - f[i][j]);
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        u[i][j] = tmp[i][j];
  }
}
