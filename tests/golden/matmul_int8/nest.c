/* A product of bytes summed as int, in groups of four, with what turns the sums into floats. */
enum { M = 48, N = 128, K = 128 };

void matmul_int8(int C[M][N / 64][64], float D[M][N / 64][64], const unsigned char A[M][K / 4][4],
                 const signed char B[N / 64][K / 4][64][4], const float scale[N / 64][64])
{
#pragma scop
  for (int i = 0; i < M; ++i)
    for (int jt = 0; jt < N / 64; ++jt)
      for (int j = 0; j < 64; ++j)
        for (int k = 0; k < K / 4; ++k)
          for (int q = 0; q < 4; ++q)
            C[i][jt][j] += (int)A[i][k][q] * (int)B[jt][k][j][q];
  for (int i = 0; i < M; ++i)
    for (int jt = 0; jt < N / 64; ++jt)
      for (int j = 0; j < 64; ++j)
        D[i][jt][j] = scale[jt][j] * (float)C[i][jt][j];
#pragma endscop
}
