/* Batch normalization and ReLU of images of 7 by 7 pixels, by rows */
void batch_norm_relu_7(float y[512][7][7], const float x[512][7][7], const float scale[512], const float shift[512])
{
  for (int c = 0; c < 512; c++)
    for (int i = 0; i < 7; i++)
      for (int j = 0; j < 7; j++)
        y[c][i][j] = x[c][i][j] * scale[c] + shift[c];
  for (int c = 0; c < 512; c++)
    for (int i = 0; i < 7; i++)
      for (int j = 0; j < 7; j++)
        y[c][i][j] = y[c][i][j] > 0 ? y[c][i][j] : 0;
}
