/* x = beta A'y + z, then w = alpha A x.
 *
 * Override a size with -D.
 */
#ifndef N
#define N 4096
#endif

void sgemvt(const float alpha, const float beta, const float A[N][N], const float y[N], const float z[N], float x[N], float w[N])
{
#pragma scop
  for (int i = 0; i < N; ++i)
    x[i] = z[i];

  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      x[j] += beta * A[i][j] * y[i];

  for (int i = 0; i < N; ++i)
    w[i] = 0.0f;

  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      w[i] += alpha * A[i][j] * x[j];
#pragma endscop
}
