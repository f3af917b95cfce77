/* y = A x for a banded matrix in LAPACK's band storage: ab[KL + KU + 1][N] */
#define N 512
#define KL 3
#define KU 2
void dgbmv(double y[N], const double ab[KL + KU + 1][N], const double x[N])
{
  for (int j = 0; j < N; ++j)
    for (int i = (j > KU ? j - KU : 0); i < (j + KL + 1 < N ? j + KL + 1 : N); ++i)
      y[i] += ab[KU + i - j][j] * x[j];
}
