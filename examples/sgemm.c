/* C = alpha * A * B + beta * C, as BLAS has it, in row-major order: pointers, leading dimensions, any size.
 *
 *   polydl library examples/sgemm.c --range M=1..4096 --range N=1..4096 --range K=1..4096 \
 *       --range lda=K.. --range ldb=N.. --range ldc=N..
 */
void sgemm(int M, int N, int K, float alpha, const float *A, int lda, const float *B, int ldb, float beta, float *C,
           int ldc)
{
#pragma scop
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      float sum = 0;
      for (int k = 0; k < K; ++k)
        sum += A[i * lda + k] * B[k * ldb + j];
      C[i * ldc + j] = alpha * sum + beta * C[i * ldc + j];
    }
#pragma endscop
}
