// Directives right behind regions.
void directive_behind(double y[16], const double x[16])
{
#pragma scop
  for (int i = 0; i < 16; i++)
    y[i] = x[i] + 1;
#pragma endscop
#ifdef _OPENMP
  y[0] *= 1;
#endif
#pragma omp parallel for
  for (int i = 0; i < 16; i++)
    y[i] *= 2;
}
