/* Each element of another array needs two of the sums.
 *
 * refused: write sets: writes `C`, .* writes `D`
 */
void f(float C[20][24], float A[20][16], float B[16][24], float D[20][24])
{
#pragma scop
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      for (int k = 0; k < 16; k++)
        C[i][j] += A[i][k] * B[k][j];

  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      D[i][j] = C[i][j] + C[i][0];
#pragma endscop
}
