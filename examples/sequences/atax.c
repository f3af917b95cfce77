/* y = A'(A x).
 *
 * Override a size with -D.
 */
#ifndef N
#define N 4096
#endif

void atax(const float A[N][N], const float x[N], float t[N], float y[N])
{
#pragma scop
  for (int i = 0; i < N; ++i)
    t[i] = 0.0f;

  for (int i = 0; i < N; ++i)
    y[i] = 0.0f;

  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      t[i] += A[i][j] * x[j];

  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      y[j] += A[i][j] * t[i];
#pragma endscop
}
