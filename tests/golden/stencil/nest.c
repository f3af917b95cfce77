/* A Jacobi stencil of five points, from A to B and back in each step in time. */
void stencil(float A[64][80], float B[64][80])
{
#pragma scop
  for (int t = 0; t < 4; ++t) {
    for (int i = 1; i < 63; ++i)
      for (int j = 1; j < 79; ++j)
        B[i][j] = 0.2f * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i - 1][j] + A[i + 1][j]);
    for (int i = 1; i < 63; ++i)
      for (int j = 1; j < 79; ++j)
        A[i][j] = 0.2f * (B[i][j] + B[i][j - 1] + B[i][j + 1] + B[i - 1][j] + B[i + 1][j]);
  }
#pragma endscop
}
