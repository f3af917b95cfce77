static float a[8];
int omp_get_num_threads(void) { return 7; }
void f(void)
{
  for (int i = 0; i < 8; i++)
    a[i] += 1;
}
// expect: SourceError | line 2 | omp_get_num_threads belongs to OpenMP's library
