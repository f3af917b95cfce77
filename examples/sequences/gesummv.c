/* y = alpha A x + beta B x.
 *
 * Override a size with -D.
 */
#ifndef N
#define N 4096
#endif

void gesummv(const float alpha, const float beta, const float A[N][N], const float B[N][N], const float x[N], float y[N])
{
#pragma scop
  for (int i = 0; i < N; ++i)
    y[i] = 0.0f;

  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      y[i] += alpha * A[i][j] * x[j];

  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      y[i] += beta * B[i][j] * x[j];
#pragma endscop
}
