/* Only the diagonal is scaled.
 *
 * refused: write sets: not the same elements
 */
void f(float C[20][20], float A[20][16], float B[16][20])
{
#pragma scop
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 20; j++)
      for (int k = 0; k < 16; k++)
        C[i][j] += A[i][k] * B[k][j];

  for (int i = 0; i < 20; i++)
    C[i][i] = 2.0f * C[i][i];
#pragma endscop
}
