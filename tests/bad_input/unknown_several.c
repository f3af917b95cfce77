void scaled(int N, int M, int K, float A[N][M], float x[K])
{
#pragma scop
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < M; ++j)
      A[i][j] *= x[j];
#pragma endscop
}
// expect: UnknownSizeError | line 4 | -D N=VALUE -D M=VALUE -D K=VALUE
