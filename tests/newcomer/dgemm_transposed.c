#define N 64
void dgemm_tt(double A[N][N], double B[N][N], double C[N][N], double alpha)
{
  int i, j, k;
  for (i = 0; i < N; i++)
    for (j = 0; j < N; j++)
      for (k = 0; k < N; k++)
        C[i][j] += alpha * A[k][i] * B[j][k];
}
