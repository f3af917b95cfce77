void f(double y[64], double z[64], const double x[64])
{
#pragma omp parallel
  {
#pragma scop
    for (int i = 0; i < 64; i++)
      z[i] = x[i];
#pragma omp barrier
    for (int i = 0; i < 64; i++)
      y[i] = z[i];
#pragma endscop
  }
}
// expect: UnsupportedConstructError | line 8 | whose threads the directive is for
