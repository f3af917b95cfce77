// A region that starts threads of its own where each thread of another team runs it.
void openmp_own_team(double y[64], double s[1], const double x[64])
{
#pragma omp parallel for num_threads(1)
  for (int t = 0; t < 1; t++) {
#pragma scop
#pragma omp parallel
    {
#pragma omp for
      for (int i = 0; i < 64; i++) {
#pragma omp atomic
        s[0] += x[i];
        y[i] += x[i];
      }
    }
#pragma endscop
  }
}
