void nest(float C[1][1], const float A[31][1], const float B[31][1])
{
#pragma scop
  for (int k = 0; k < 31; k++) {
    C[0][0] += A[k][0] * B[k][0];
  }
#pragma endscop
}
