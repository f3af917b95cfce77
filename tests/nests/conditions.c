// Conditions on counters, and expressions that guard what they read.
void nest(float a[8][8], const float b[8][8])
{
#pragma scop
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) {
      if (i > j)
        a[i][j] = b[i - 1][j];
      else if (i == j)
        a[i][j] = 7;
      else {
        a[i][j] = b[i][j - 1];
        if (j == 7 || i == 2) a[i][j] += 1;
      }
      a[i][j] += i > 0 && j < 7 ? b[i - 1][j + 1] : b[i][j];
      a[i][j] -= !(i > 0) || b[i - 1][j] > 0 ? 1 : 2;
      a[i][j] = a[i][j] > 0 ? a[i][j] : 0;
      for (int k = 0; k < 8; ++k) {
        if (k > j) break;
        if (k == 2) continue;
        a[i][j] += k * b[k][i];
      }
    }
#pragma endscop
}
