/* z = alpha A x + beta y.
 *
 * Override a size with -D.
 */
#ifndef N
#define N 4096
#endif

void sgemv(const float alpha, const float beta, const float A[N][N], const float x[N], const float y[N], float z[N])
{
#pragma scop
  for (int i = 0; i < N; ++i)
    z[i] = beta * y[i];

  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      z[i] += alpha * A[i][j] * x[j];
#pragma endscop
}
