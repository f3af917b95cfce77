/* C = beta C + alpha A B, as PolyBench writes it. */
void gemm(float alpha, float beta, float C[48][64], const float A[48][40], const float B[40][64])
{
#pragma scop
  for (int i = 0; i < 48; i++) {
    for (int j = 0; j < 64; j++)
      C[i][j] *= beta;
    for (int k = 0; k < 40; k++)
      for (int j = 0; j < 64; j++)
        C[i][j] += alpha * A[i][k] * B[k][j];
  }
#pragma endscop
}
