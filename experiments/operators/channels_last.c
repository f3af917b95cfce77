/* An image by rows with its channels last */
void channels_last(float y[56][56][64], const float x[64][56][56])
{
  for (int i = 0; i < 56; i++)
    for (int j = 0; j < 56; j++)
      for (int c = 0; c < 64; c++)
        y[i][j][c] = x[c][i][j];
}
