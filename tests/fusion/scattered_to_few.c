/* Several iterations write the same element.
 *
 * refused: element-wise: runs 96 times for 27 elements
 */
void f(float C[27], float A[27][16], float B[16])
{
#pragma scop
  for (int i = 0; i < 27; i++)
    for (int k = 0; k < 16; k++)
      C[i] += A[i][k] * B[k];

  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 24; j++)
      C[i + j] *= 0.5f;
#pragma endscop
}
