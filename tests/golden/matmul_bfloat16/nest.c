/* A product of bfloat16s summed as float, then ReLU. */
#include <polydl/bfloat16.h>

enum { M = 48, N = 80, K = 96 };

void matmul_bfloat16(float C[M][N], const bfloat16 A[M][K], const bfloat16 B[K][N])
{
#pragma scop
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j)
      C[i][j] = 0;
  for (int i = 0; i < M; ++i)
    for (int k = 0; k < K; ++k)
      for (int j = 0; j < N; ++j)
        C[i][j] += bfloat16_to_float(A[i][k]) * bfloat16_to_float(B[k][j]);
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j)
      C[i][j] = C[i][j] > 0.0f ? C[i][j] : 0.0f;
#pragma endscop
}
