#define N 16
void f(_Float16 c[N][N], const _Float16 a[N][N])
{
#pragma scop
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      c[i][j] += a[i][j];
#pragma endscop
}
// expect: UnsupportedConstructError | line 2 | c is the type _Float16
