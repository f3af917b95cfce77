// Counts by ++ and -- under conditions on data, without pragmas.
void counted(const float a[64], int counts[3], unsigned char wraps[1], float *sum)
{
  int positive = 0;
  counts[0] = counts[1] = 0;
  for (int i = 0; i < 64; i++) {
    if (a[i] > 0)
      ++positive;
    if (a[i] > 0.6f)
      counts[0]++;
    else if (a[i] > 0.2f)
      counts[0]--;
    else
      counts[0] += 7;
    if (a[i] > 0.5f)
      wraps[0]++;
    else {
      --wraps[0];
    }
    if (a[i] < 0.1f) {
      (*sum)++;
      counts [1] --;
    }
  }
  counts[2] = positive;
}
