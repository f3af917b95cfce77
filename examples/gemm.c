/* C += A * B for matrices of any size in row-major order: the sizes are parameters.
 *
 *   polydl library examples/gemm.c --range M=1..4096 --range N=64,256,1024 --range K=64..4096:64
 */
void gemm(int M, int N, int K, float C[M][N], const float A[M][K], const float B[K][N])
{
#pragma scop
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j)
      for (int k = 0; k < K; ++k)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
