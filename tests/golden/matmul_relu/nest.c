/* A product from zero with ReLU behind it. */
void matmul_relu(float C[64][96], const float A[64][128], const float B[128][96])
{
#pragma scop
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 96; ++j)
      C[i][j] = 0.0f;
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 96; ++j)
      for (int k = 0; k < 128; ++k)
        C[i][j] += A[i][k] * B[k][j];
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 96; ++j)
      C[i][j] = C[i][j] > 0.0f ? C[i][j] : 0.0f;
#pragma endscop
}
