#define PRAGMA(x) _Pragma(#x)
#define EACH(n) PRAGMA(omp for) for (int i = 0; i < (n); i++)
void f(double y[64], const double x[64])
{
#pragma omp parallel
  {
#pragma scop
    EACH(64)
      y[i] += x[i];
#pragma endscop
  }
}
// expect: UnsupportedConstructError | line 8 | OpenMP
