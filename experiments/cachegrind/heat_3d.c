/* One sweep of a seven-point stencil over a grid of 72 x 64 x 56, each loop of which can be tiled and interchanged. */
#ifndef NI
#define NI 72
#endif
#ifndef NJ
#define NJ 64
#endif
#ifndef NK
#define NK 56
#endif

void heat_3d(float B[NI][NJ][NK], const float A[NI][NJ][NK])
{
#pragma scop
  for (int i = 1; i < NI - 1; ++i)
    for (int j = 1; j < NJ - 1; ++j)
      for (int k = 1; k < NK - 1; ++k)
        B[i][j][k] = 0.4f * A[i][j][k] + 0.1f * (A[i - 1][j][k] + A[i + 1][j][k] + A[i][j - 1][k] + A[i][j + 1][k]
                                                 + A[i][j][k - 1] + A[i][j][k + 1]);
#pragma endscop
}
