// The comma operator between statements, and loops that count with several variables.
void nest(float a[32], float b[32], const float c[32], int n)
{
  int i, j;
  float sum;
  long k;
#pragma scop
  for (i = 0, sum = 0.5f; i < 32; i++)
    sum += c[i], b[i] *= sum;
  if (n > 3)
    a[0] = 1, b[0] = a[0] + 2;
  else
    (a[0] = 2), b[0] = 3;
  for (i = 0, j = n - 1; i < j; i++, j--) {
    float t = a[i];
    a[i] = a[j], a[j] = t;
  }
  for (j = 3, i = 2; i < 12; i += 2, j += 4)
    b[j / 3] += a[i] * j;
  for (int up = 0, down = 31, same = 7; up < 31; ++up, down -= 1)
    a[up] += b[down] - c[same] * (down - 2 * same);
  if (b[1] > 0) {
    b[2] = 3, a[2] = 4;
  }
  for (unsigned first = 0, second = 3; first < 8; ++first, --second)
    a[first] += 0.125f * (second % 16);
  for (long at = 2, wide = n - 20; at < 9; ++at, wide -= 3)
    b[at] += wide;
  for (int row = 0; row < 4; ++row)
    for (k = 0, i = 31 - row; i >= 0; k += 1, i -= 1)
      if (k > 2 * row)
        a[k] += c[i] * row;
#pragma endscop
}
// defines: n=17
