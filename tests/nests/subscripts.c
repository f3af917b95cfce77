// Subscripts with division and remainder, shared elements, constants.
void nest(float a[8][9], float b[20], const float c[10])
{
#pragma scop
  for (int i = 0; i < 18; ++i) {
    a[i / 3][i % 3] += b[i / 2] * c[i % 10];
    b[(i + 1) % 20] += a[7][8];
  }
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 9; ++j)
      a[(i + j) % 8][j] = a[i][j] - i / 2 + (i - j) * 0.5f;
#pragma endscop
}
