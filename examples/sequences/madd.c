/* C = A + B, with matrices.
 *
 * Override a size with -D.
 */
#ifndef N
#define N 4096
#endif

void madd(const float A[N][N], const float B[N][N], float C[N][N])
{
#pragma scop
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      C[i][j] = A[i][j] + B[i][j];
#pragma endscop
}
