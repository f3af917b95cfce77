/* A clamp between two sweeps over neighbours.
 *
 * refused: dependences: reads elements of `C` other than
 */
void f(float C[20][24], float A[20][24])
{
#pragma scop
  for (int i = 1; i < 19; i++)
    for (int j = 0; j < 24; j++)
      C[i][j] = C[i - 1][j] + C[i + 1][j] + A[i][j];

  for (int i = 1; i < 19; i++)
    for (int j = 0; j < 24; j++)
      C[i][j] = C[i][j] > 0.0f ? C[i][j] : 0.0f;
#pragma endscop
}
