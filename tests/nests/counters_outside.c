// Figure 8's way to write a convolution: counters and indices are declared before the loops.
#define STRIDE 2
void nest(float out[2][3][4], const float in[2][7][6], const float w[3][2])
{
  int n, i, j, ij, ki, kj, jj;
#pragma scop
#pragma omp parallel for private(i, j, ij, ki, kj, jj)
  for (n = 0; n < 2; ++n)
    for (i = 0; i < 3; ++i) {
      ij = i * STRIDE;
      for (j = 0; j < 4; ++j) {
        jj = j;
        for (ki = 0; ki < 3; ++ki)
          for (kj = 0; kj < 2; ++kj)
            out[n][i][j] += in[n][ij + ki][jj + kj] * w[ki][kj];
      }
    }
#pragma endscop
}
