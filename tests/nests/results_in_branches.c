// Functions that choose what they return, in subscripts, bounds and conditions.
static int clamped(int x, int low, int high)
{
  if (x < low)
    return low;
  if (x > high) {
    return high;
  }
  return x;
}

static long distance(int x, unsigned y)
{
  if (x < 4)
    return y - 4;
  else
    return x;
}

void results_in_branches(float a[20], const float b[20])
{
  for (int i = 0; i < 20; ++i) {
    int place = clamped(i + 3, 5, 15);
    a[i] = b[clamped(i - 2, 0, 19)] + b[place];
    for (int j = 0; j < clamped(i, 2, 6); ++j)
      a[i] += b[j];
    if (distance(i, 7) > 10)
      a[i] *= 2;
  }
}
