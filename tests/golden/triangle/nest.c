/* A product with a triangular matrix in blocks, and a pass over a triangle. */
void triangle(double C[4][40][24], double D[61][61], const double A[4][4][40][16], const double B[4][16][24])
{
#pragma scop
  for (int it = 0; it < 4; it++)
    for (int kt = 0; kt <= it; kt++)
      for (int i = 0; i < 40; i++)
        for (int k = 0; k < 16; k++)
          for (int j = 0; j < 24; j++)
            C[it][i][j] += A[it][kt][i][k] * B[kt][k][j];
  for (int i = 0; i < 61; i++)
    for (int j = 0; j <= i; j++)
      D[i][j] = 2.0 * D[i][j] + 1.0;
#pragma endscop
}
