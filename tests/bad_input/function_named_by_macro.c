// expect: UnsupportedConstructError | line 4 | a macro stands for the name of the function conv
#define FN conv
#define N 16
void FN(const float a[N][N], const float b[N][N], float c[N][N])
{
#pragma scop
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      for (int k = 0; k < N; ++k)
        c[i][j] += a[i][k] * b[k][j];
#pragma endscop
}
