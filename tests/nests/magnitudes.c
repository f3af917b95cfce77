// abs in subscripts, bounds and conditions is a choice, and on data a call.
#include <stdlib.h>
void nest(float y[36], const float x[40], const long w[9], int z[20][20])
{
#pragma scop
  for (int i = 0; i < 36; i++) {
    int at = abs(i - 2);
    if (at > 30)
      at = 60 - at;
    y[i] = x[abs(i - 7)] + x[labs(3 - i)] * abs(2 - i) - x[at];
  }
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 20; j++)
      if (abs(i - j) <= 2)
        z[i][j] = abs((int)w[abs(j - 4) / 2]);
  for (short i = 0; i < 20; i++)
    for (int j = abs(i - 10); j < 20 - abs(2 - abs(i - 10)); j++)
      z[i][j] += abs(z[i][j]) > 3 ? 1 : 2;
#pragma endscop
}
