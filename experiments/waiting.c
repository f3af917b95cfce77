/* Calls of a parallel loop, timed one by one: waiting SECONDS_OF_WORK THREADS SECONDS.
   The work is a chain of multiply-adds, as long on each thread as the work divided by the threads. Each call takes all
   threads, or, compiled with CHOOSES, as many as emitted code would take. */
#ifndef CHOOSES
#define POLYDL_ALL_THREADS
#endif
#include "team.c"
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static volatile double sink;
static struct polydl_team team;

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

__attribute__((noipa)) static void work(long steps)
{
  double x = sink;
  for (long i = 0; i < steps; i++)
    x = x * 0.999999 + 1e-6;
  sink = x;
}

static int by_value(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
  if (argc != 4)
    return 2;
  const double seconds = atof(argv[1]), duration = atof(argv[3]);
  const int threads = atoi(argv[2]);
  const long tried = 100000;
  double best = 1.0;
  for (int i = 0; i < 200; i++) {
    const double start = now();
    work(tried);
    const double taken = now() - start;
    best = taken < best ? taken : best;
  }
  const long steps = seconds / best * tried / threads;
  enum { MOST = 1000000 };
  double *times = malloc(MOST * sizeof *times);
  if (times == NULL)
    return 1;
  long calls = 0, serial = 0;
  omp_set_num_threads(threads);
  struct rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  const double begin = now();
  while (calls < MOST && now() - begin < duration) {
    const double start = now();
    struct polydl_call call;
    polydl_begin(&call, &team, 1);
#pragma omp parallel for schedule(static, 1)
    for (int thread = 0; thread < threads; thread++)
      work(steps);
    polydl_end(&call);
    serial += call.serial;
    times[calls++] = now() - start;
  }
  const double elapsed = now() - begin;
  getrusage(RUSAGE_SELF, &after);
  const double used = (after.ru_utime.tv_sec - before.ru_utime.tv_sec) + 1e-6 * (after.ru_utime.tv_usec - before.ru_utime.tv_usec) +
                      (after.ru_stime.tv_sec - before.ru_stime.tv_sec) + 1e-6 * (after.ru_stime.tv_usec - before.ru_stime.tv_usec);
  /* In the order of the calls, evenly spread over them. */
  const long step = calls / 400 + 1;
  printf("{\"nanoseconds\": [");
  for (long i = 0; i < calls; i += step)
    printf("%s%.0f", i ? ", " : "", times[i] * 1e9);
  qsort(times, calls, sizeof *times, by_value);
  printf("], \"calls\": %ld, \"mean\": %.9f, \"median\": %.9f, \"slowest_hundredth\": %.9f, \"cpu_per_call\": %.9f, "
         "\"preempted\": %ld, \"slept\": %ld, \"serial\": %ld}\n",
         calls, elapsed / calls, times[calls / 2], times[calls - 1 - calls / 100], used / calls,
         after.ru_nivcsw - before.ru_nivcsw, after.ru_nvcsw - before.ru_nvcsw, serial);
  free(times);
  return 0;
}
