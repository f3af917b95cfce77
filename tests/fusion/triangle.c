/* Only the lower triangle is clamped.
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
    for (int j = 0; j <= i; j++)
      C[i][j] = C[i][j] > 0.0f ? C[i][j] : 0.0f;
#pragma endscop
}
