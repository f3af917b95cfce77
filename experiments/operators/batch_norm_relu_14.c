/* Batch normalization and ReLU of images of 14 by 14 pixels, by rows */
void batch_norm_relu_14(float y[256][14][14], const float x[256][14][14], const float scale[256],
                        const float shift[256])
{
  for (int c = 0; c < 256; c++)
    for (int i = 0; i < 14; i++)
      for (int j = 0; j < 14; j++)
        y[c][i][j] = x[c][i][j] * scale[c] + shift[c];
  for (int c = 0; c < 256; c++)
    for (int i = 0; i < 14; i++)
      for (int j = 0; j < 14; j++)
        y[c][i][j] = y[c][i][j] > 0 ? y[c][i][j] : 0;
}
