// Directives in front of a region that start no threads; one of them has no kind in the bindings of libclang.
void openmp_target_data(double y[64], double s[1], const double x[64])
{
#pragma omp error severity(warning) message("slow")
#pragma omp target data map(tofrom: y[0:64], s[0:1])
  {
#pragma scop
#pragma omp parallel for
    for (int i = 0; i < 64; i++) {
#pragma omp atomic
      s[0] += x[i];
      y[i] += x[i];
    }
#pragma endscop
  }
}
