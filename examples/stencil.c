/* A Jacobi stencil of five points on a grid of 1024 x 1024, for 10 steps in time, each from A to B and back.
 *
 * There is no matrix product in it: what can be gained is in the order of the loops, tiles and threads. The border
 * of the grid keeps its values. Override a size with -D, for example -D N=2048 -D T=4.
 */
#ifndef N
#define N 1024
#endif
#ifndef T
#define T 10
#endif

void stencil(float A[N][N], float B[N][N])
{
#pragma scop
  for (int t = 0; t < T; ++t) {
    for (int i = 1; i < N - 1; ++i)
      for (int j = 1; j < N - 1; ++j)
        B[i][j] = 0.2f * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i - 1][j] + A[i + 1][j]);
    for (int i = 1; i < N - 1; ++i)
      for (int j = 1; j < N - 1; ++j)
        A[i][j] = 0.2f * (B[i][j] + B[i][j - 1] + B[i][j + 1] + B[i - 1][j] + B[i + 1][j]);
  }
#pragma endscop
}
