// Sizes are parameters (here n = 5 and m = 4), also inside macros; arrays are pointers with computed subscripts.
// defines: n=5 m=4
#define AT(x, i, j) x[(i) * m + (j)]
#define COUNT (n - 1)
void nest(const int n, int m, float *restrict a, const float b[n][m + 1], float (*c)[3], float *out)
{
  const int last = COUNT;
  int twice = 2 * n;
#pragma scop
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      AT(a, i, j) = b[i][j + 1] * m + n;
  for (int i = 0; i < COUNT; ++i)
    for (int j = 0; j < 3; ++j)
      c[i][j] = a[(i + 1) * m + j] + c[last][j];
  for (int i = 0; i < twice; ++i)
    out[n * m - 1 - i] += i;
#pragma endscop
}
