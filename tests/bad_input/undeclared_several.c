void scaled(float A[N][M], float x[K])
{
#pragma scop
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < M; ++j)
      A[i][j] *= x[j];
#pragma endscop
}
// expect: SourceError | line 1 | -D N=VALUE -D M=VALUE -D K=VALUE
