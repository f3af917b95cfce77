#include <math.h>

/* The softmax of each row of a matrix of any size: the sizes are parameters.
 *
 *   polydl library examples/softmax.c --range N=1..4096 --range M=1..4096
 */
void softmax(int N, int M, float y[N][M], const float x[N][M])
{
#pragma scop
  for (int i = 0; i < N; ++i) {
    float most = x[i][0];
    for (int j = 1; j < M; ++j)
      most = fmaxf(most, x[i][j]);
    float sum = 0;
    for (int j = 0; j < M; ++j) {
      y[i][j] = expf(x[i][j] - most);
      sum += y[i][j];
    }
    for (int j = 0; j < M; ++j)
      y[i][j] /= sum;
  }
#pragma endscop
}
