#define SHARE _Pragma("omp for")
void f(double y[64], const double x[64])
{
#pragma omp parallel
  {
#pragma scop
    SHARE
    for (int i = 0; i < 64; i++)
      y[i] += x[i];
#pragma endscop
  }
}
// expect: UnsupportedConstructError | line 7 | OpenMP
