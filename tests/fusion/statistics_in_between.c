/* The mean that is subtracted is computed between the two.
 *
 * refused: dependences: in between, writes `m`, which line .* reads
 */
void f(float C[20][24], float A[20][16], float B[16][24], float E[20][24], float m[20])
{
#pragma scop
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      for (int k = 0; k < 16; k++)
        C[i][j] += A[i][k] * B[k][j];

  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      m[i] += E[i][j];

  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      C[i][j] = C[i][j] - m[i];
#pragma endscop
}
