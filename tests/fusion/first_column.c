/* Rows are summed up in their first element: a reduction posing as element-wise.
 *
 * refused: write sets: \[0..19\]\[0..0\]
 */
void f(float C[20][24], float A[20][16], float B[16][24])
{
#pragma scop
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      for (int k = 0; k < 16; k++)
        C[i][j] += A[i][k] * B[k][j];

  for (int i = 0; i < 20; i++)
    for (int j = 1; j < 24; j++)
      C[i][0] += C[i][j];
#pragma endscop
}
