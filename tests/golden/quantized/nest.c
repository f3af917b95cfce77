/* A product of quantized numbers, with the zero points of both. */
enum { M = 48, N = 96, K = 64 };

void quantized(int C[M][N], const unsigned char A[M][K], const signed char B[K][N], int zero, const int zeros[N])
{
#pragma scop
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j)
      for (int k = 0; k < K; ++k)
        C[i][j] += ((int)A[i][k] - zero) * ((int)B[k][j] - zeros[j]);
#pragma endscop
}
