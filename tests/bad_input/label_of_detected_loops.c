#define N 48
int mm(float C[N][N], const float A[N][N], const float B[N][N], const float *w)
{
  if (w[0] > 0.5f)
    goto product;
  C[0][0] = 0;
product:
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        C[i][j] += A[i][k] * B[k][j];
  return 0;
}
// expect: UnsupportedConstructError | line 7 | a label can't be modelled
