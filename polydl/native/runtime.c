#include <time.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT double polydl_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
