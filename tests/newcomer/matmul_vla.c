void matmul(int n, int m, int k, double a[n][k], double b[k][m], double c[n][m])
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      c[i][j] = 0;
      for (int p = 0; p < k; p++)
        c[i][j] += a[i][p] * b[p][j];
    }
}
