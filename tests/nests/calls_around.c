// Calls in front of the loops and behind them, without pragmas: the loops alone are the region.
#include <stdio.h>
#include <time.h>

static int calls;
__attribute__((noinline)) static void seen(const float *x)
{
  calls += x[0] > 0;
}

void calls_around(float a[20], const float b[20], float c[20])
{
  long begin = time(0);
  float scale = 2, sum = 0;
  float twice[20];
  for (int i = 0; i < 20; ++i)
    twice[i] = scale * b[i]; // not the last one;
  for (int i = 0; i < 20; ++i) {
    a[i] = twice[i];
    sum += a[i];
  }
  long end = time(0);
  seen(twice);
  c[0] = sum + (float)(end < begin);
  for (int i = 1; i < 20; ++i)
    c[i] = twice[i];
  if (calls < 0)
    puts("never");
}
