/* The transposed element is read.
 *
 * refused: dependences: reads elements of `C` other than
 */
void f(float C[20][20], float A[20][16], float B[16][20])
{
#pragma scop
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 20; j++)
      for (int k = 0; k < 16; k++)
        C[i][j] += A[i][k] * B[k][j];

  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 20; j++)
      C[i][j] = C[j][i];
#pragma endscop
}
