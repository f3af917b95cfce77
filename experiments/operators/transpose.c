/* The transpose of a matrix */
void transpose(float y[512][768], const float x[768][512])
{
  for (int i = 0; i < 512; i++)
    for (int j = 0; j < 768; j++)
      y[i][j] = x[j][i];
}
