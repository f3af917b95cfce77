/* C += A * B for matrices in row-major order (the paper's Figure 16).
 *
 * Give sizes with -D: -D M=96 -D N=64 -D K=80 is measured in seconds, the default of 1024 each may take a minute.
 */
#ifndef M
#define M 1024
#endif
#ifndef N
#define N 1024
#endif
#ifndef K
#define K 1024
#endif

void matmul(float C[M][N], const float A[M][K], const float B[K][N])
{
#pragma scop
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j)
      for (int k = 0; k < K; ++k)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
