/* A linear layer of bfloat16s, summed as float: rows of inputs by rows of weights, then ReLU. */
#include <polydl/bfloat16.h>

#define ROWS 32
#define OUTPUTS 96
#define INPUTS 160

void linear_bfloat16(float y[ROWS][OUTPUTS], const bfloat16 x[ROWS][INPUTS], const bfloat16 w[OUTPUTS][INPUTS])
{
#pragma scop
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < OUTPUTS; ++j) {
      y[i][j] = 0;
      for (int k = 0; k < INPUTS; ++k)
        y[i][j] += bfloat16_to_float(x[i][k]) * bfloat16_to_float(w[j][k]);
    }
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < OUTPUTS; ++j)
      y[i][j] = y[i][j] > 0.0f ? y[i][j] : 0.0f;
#pragma endscop
}
