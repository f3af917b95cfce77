// No pragma: the loops are found. What is before and after them stays out.
#include <stdio.h>
void nest(float a[6][6], float b[6])
{
  int i, j;
  float border;
  puts("");
  border = a[0][0];
#pragma omp parallel for private(j)
  for (i = 0; i < 6; i++) {
    b[i] = 0;
    for (j = 0; j < 6; j++)
      b[i] += a[j][i];
  }
  for (i = 0; i < 6; i++)
    a[i][i] = b[i] * border;
  puts("");
  for (i = 0; i < 2; i++) a[0][i] += 1;
}
