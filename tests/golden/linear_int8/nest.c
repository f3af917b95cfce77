/* A linear layer of bytes: rows of inputs by rows of weights, tails along all loops. */
#define ROWS 45
#define OUTPUTS 120
#define INPUTS 352

void linear_int8(int y[ROWS][OUTPUTS], const unsigned char x[ROWS][INPUTS + 1], const signed char w[OUTPUTS][INPUTS])
{
#pragma scop
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < OUTPUTS; j++) {
      y[i][j] = 0;
      for (int k = 0; k < INPUTS; k++)
        y[i][j] += x[i][k] * w[j][k];
    }
#pragma endscop
}
