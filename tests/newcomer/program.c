#include <stdio.h>
#include <stdlib.h>
#define N 48
static float a[N][N], b[N][N], c[N][N];
static void multiply(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        c[i][j] += a[i][k] * b[k][j];
}
int main(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      a[i][j] = rand() / (float)RAND_MAX;
      b[i][j] = rand() / (float)RAND_MAX;
    }
  multiply();
  printf("%f\n", c[N / 2][N / 2]);
  return 0;
}
