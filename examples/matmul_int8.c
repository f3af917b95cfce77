/* A product of bytes summed as int: activations without sign, weights with sign, four steps of k side by side
   (the layout that dot-product instructions read), weights in blocks of 64 columns. */
enum { M = 256, N = 512, K = 1024 };

void matmul_int8(int C[M][N / 64][64], const unsigned char A[M][K / 4][4], const signed char B[N / 64][K / 4][64][4])
{
#pragma scop
  for (int i = 0; i < M; ++i)
    for (int jt = 0; jt < N / 64; ++jt)
      for (int j = 0; j < 64; ++j)
        for (int k = 0; k < K / 4; ++k)
          for (int q = 0; q < 4; ++q)
            C[i][jt][j] += (int)A[i][k][q] * (int)B[jt][k][j][q];
#pragma endscop
}
