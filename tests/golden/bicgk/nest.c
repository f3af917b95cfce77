/* q = A p and s = A'r.
 *
 * Override a size with -D.
 */
#ifndef N
#define N 4096
#endif

void bicgk(const float A[N][N], const float p[N], const float r[N], float q[N], float s[N])
{
#pragma scop
  for (int i = 0; i < N; ++i)
    q[i] = 0.0f;

  for (int i = 0; i < N; ++i)
    s[i] = 0.0f;

  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      q[i] += A[i][j] * p[j];

  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      s[j] += A[i][j] * r[i];
#pragma endscop
}
