/* Another product is added to the first.
 *
 * refused: element-wise: runs 7680 times for 480 elements
 */
void f(float C[20][24], float A[20][16], float B[16][24], float E[20][16], float F[16][24])
{
#pragma scop
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      for (int k = 0; k < 16; k++)
        C[i][j] += A[i][k] * B[k][j];

  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      for (int k = 0; k < 16; k++)
        C[i][j] += E[i][k] * F[k][j];
#pragma endscop
}
