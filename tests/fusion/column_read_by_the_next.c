/* A running sum along each row.
 *
 * refused: dependences: reads elements of `C` other than
 */
void f(float C[20][24], float A[20][16], float B[16][24])
{
#pragma scop
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      for (int k = 0; k < 16; k++)
        C[i][j] += A[i][k] * B[k][j];

  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      C[i][j] = C[i][j] + C[(i + 3) / 4][j];
#pragma endscop
}
