void f(double s[1], const double x[64])
{
#pragma omp parallel for
  for (int t = 0; t < 4; t++) {
#pragma scop
    for (int i = 0; i < 64; i++) {
#pragma omp atomic
      s[0] += x[i];
    }
#pragma endscop
  }
}
// expect: UnsupportedConstructError | line 7 | whose threads the directive is for, and which would lose it
