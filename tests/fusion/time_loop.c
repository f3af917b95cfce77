/* Sum and clamp alternate in a loop over time.
 *
 * refused: shared loops: has no loops of its own
 */
void f(float C[20][24], float A[20][24], float B[24][24])
{
#pragma scop
  for (int t = 0; t < 5; t++) {
    for (int i = 0; i < 20; i++)
      for (int j = 0; j < 24; j++)
        for (int k = 0; k < 24; k++)
          C[i][j] += A[i][k] * B[k][j];
    for (int i = 0; i < 20; i++)
      for (int j = 0; j < 24; j++)
        A[i][j] = C[i][j] > 0.0f ? C[i][j] : 0.0f;
  }
#pragma endscop
}
