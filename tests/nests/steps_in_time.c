// Several statements at several depths under one loop.
void nest(float a[9][9], float b[9][9], float s[6])
{
#pragma scop
  s[0] = 1;
  for (int t = 1; t < 6; ++t) {
    s[t] = s[t - 1] + a[t][t];
    for (int i = 1; i < 8; ++i) {
      b[i][0] = s[t];
      for (int j = 1; j < 8; ++j)
        b[i][j] = 0.25f * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + b[i][j - 1]);
      b[i][8] -= b[i][7];
    }
    for (int i = 1; i < 8; ++i)
      for (int j = 1; j < 8; ++j)
        a[i][j] = b[i][j];
    s[t] += a[1][1];
  }
#pragma endscop
}
