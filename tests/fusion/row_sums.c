/* A sum of each row follows, into another array.
 *
 * refused: element-wise: runs 480 times for 20 elements
 */
void f(float C[20][24], float A[20][16], float B[16][24], float s[20])
{
#pragma scop
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      for (int k = 0; k < 16; k++)
        C[i][j] += A[i][k] * B[k][j];

  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      s[i] += C[i][j];
#pragma endscop
}
