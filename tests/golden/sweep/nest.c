/* Loops that only some orders keep, one of them backwards. */
void sweep(float A[30][31], double x[40], double L[40][40], double b[40])
{
#pragma scop
  for (int i = 1; i < 30; i++)
    for (int j = 1; j < 30; j++)
      A[i][j] = 0.5f * (A[i - 1][j + 1] + A[i][j - 1]);
  for (int i = 39; i >= 0; i--) {
    x[i] = b[i];
    for (int j = i + 1; j < 40; j++)
      x[i] = x[i] - L[i][j] * x[j];
  }
#pragma endscop
}
