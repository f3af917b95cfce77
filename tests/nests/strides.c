// Strided, dilated, reversed and stepped accesses and loops.
void nest(float a[20], float b[40], float c[12][12], const float w[3])
{
#pragma scop
  for (int i = 0; i < 12; ++i)
    for (int k = 0; k < 3; ++k)
      a[i] += b[2 * i + 3 * k] * w[2 - k];
  for (int i = 11; i >= 0; --i)
    for (int j = 10; j > 0; j -= 3)
      c[i][j] = c[11 - i][j - 1] + a[19 - i];
  for (int i = 3; i < 20; i += 4)
    b[i] = b[2 * i + 1] - a[i];
  for (int i = 0; i <= 5; i++)
    b[5 * i + 2] *= 0.5f;
#pragma endscop
}
