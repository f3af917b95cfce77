/* C += A * B for matrices in row-major order (the paper's Figure 16), 1024 x 1024 x 1024 by default.
 *
 * Override a size with -D, for example -D M=128 -D N=2048 -D K=4096.
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
