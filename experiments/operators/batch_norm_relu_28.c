/* Batch normalization and ReLU of images of 28 by 28 pixels, by rows */
void batch_norm_relu_28(float y[128][28][28], const float x[128][28][28], const float scale[128],
                        const float shift[128])
{
  for (int c = 0; c < 128; c++)
    for (int i = 0; i < 28; i++)
      for (int j = 0; j < 28; j++)
        y[c][i][j] = x[c][i][j] * scale[c] + shift[c];
  for (int c = 0; c < 128; c++)
    for (int i = 0; i < 28; i++)
      for (int j = 0; j < 28; j++)
        y[c][i][j] = y[c][i][j] > 0 ? y[c][i][j] : 0;
}
