/* C = A * B of sizes for which B is packed. */
void matmul_panels(float C[112][1152], const float A[112][1280], const float B[1280][1152])
{
#pragma scop
  for (int i = 0; i < 112; i++)
    for (int j = 0; j < 1152; j++) {
      C[i][j] = 0.0f;
      for (int k = 0; k < 1280; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
#pragma endscop
}
