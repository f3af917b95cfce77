#include <math.h>

/* Group normalization of images by rows */
void group_norm(float y[8][8][28][28], const float x[8][8][28][28], const float scale[8][8], const float shift[8][8])
{
  for (int g = 0; g < 8; g++) {
    float sum = 0, squares = 0;
    for (int c = 0; c < 8; c++)
      for (int i = 0; i < 28; i++)
        for (int j = 0; j < 28; j++) {
          sum += x[g][c][i][j];
          squares += x[g][c][i][j] * x[g][c][i][j];
        }
    float mean = sum / 6272;
    float factor = 1.0f / sqrtf(squares / 6272 - mean * mean + 1e-5f);
    for (int c = 0; c < 8; c++)
      for (int i = 0; i < 28; i++)
        for (int j = 0; j < 28; j++)
          y[g][c][i][j] = (x[g][c][i][j] - mean) * factor * scale[g][c] + shift[g][c];
  }
}
