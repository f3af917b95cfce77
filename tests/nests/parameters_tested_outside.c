// A parameter that loops compute with, and that conditions before and behind them ask for.
int (parameters_tested_outside)(float a[16], const float b[16], int n, short m)
{
  if (n > 1000)
    return 0;
  int rest = 0;
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[i] += b[i] * n - n / 2 + m * n;
#pragma endscop
  for (int k = 0; k < m; ++k)
    rest += n > 3;
  return rest;
}
