/* Calls a workload's function, which NEST names; apart from it, so that no compiler sees through the loop. */
#include <time.h>

void NEST(float *output, const float *first, const float *second);
double time_nest(float *output, const float *first, const float *second, long repeats);

double time_nest(float *output, const float *first, const float *second, long repeats) {
  struct timespec start, end;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (long i = 0; i < repeats; ++i)
    NEST(output, first, second);
  clock_gettime(CLOCK_MONOTONIC, &end);
  return (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
}
