// Triangular and trapezoidal bounds, minimum and maximum, holes.
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
void nest(double a[10][10], const double b[10][10])
{
#pragma scop
  for (int i = 0; i < 10; ++i)
    for (int j = 0; j <= i; ++j)
      for (int k = j; k < 10; ++k)
        a[i][j] += b[i][k] * b[j][k];
  for (int i = 9; i >= 0; --i)
    for (int j = max(0, i - 2); j < min(10, i + 3); ++j)
      a[i][j] -= a[j][i];
  for (int t = 0; t < 10; t += 4)
    for (int i = t; i < min(t + 4, 10); ++i)
      for (int j = 0; j < 10; ++j)
        if (i + j < 9 && j % 3 != 1)
          a[i][j] *= 2;
#pragma endscop
}
