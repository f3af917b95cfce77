/* The mean of each channel of images of 14 by 14 pixels */
void mean_of_pixels(float y[256], const float x[256][14][14])
{
  for (int c = 0; c < 256; c++) {
    y[c] = 0;
    for (int i = 0; i < 14; i++)
      for (int j = 0; j < 14; j++)
        y[c] += x[c][i][j];
    y[c] /= 196;
  }
}
