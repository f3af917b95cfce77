enum { N = 64, M = 32 };
void scaled(float A[N][M])
{
#pragma scop
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < M; ++j)
      A[i][j] *= 2;
#pragma endscop
}
// expect: SourceError | line 1 | -D N or --range N puts a number in the place of that name here | N=128
