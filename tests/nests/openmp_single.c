// One thread of a team runs the region, which shares nothing with the others.
void openmp_single(double y[64], const double x[64])
{
#pragma omp parallel
#pragma omp single
  {
#pragma scop
#pragma omp simd
    for (int i = 0; i < 64; i++)
      y[i] += 1.5 * x[i];
#pragma endscop
  }
}
