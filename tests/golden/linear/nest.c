/* A linear layer: rows of inputs by rows of weights. */
#define ROWS 13
#define OUTPUTS 22
#define INPUTS 192

void linear(float y[ROWS][OUTPUTS], const float x[ROWS][INPUTS], const float w[OUTPUTS][INPUTS]) {
#pragma scop
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < OUTPUTS; j++) {
      y[i][j] = 0.0f;
      for (int k = 0; k < INPUTS; k++)
        y[i][j] += x[i][k] * w[j][k];
    }
#pragma endscop
}
