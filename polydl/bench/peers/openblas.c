/* OpenBLAS's sgemm on matrices by rows. */
#include "memory.h"
#include "peer.h"

#include <cblas.h>
#include <stdio.h>
#include <time.h>

static long m, n, k;
static float *a, *b, *c, beta;
static char note[256];

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

const char *peer_convolution(const long *sizes, int layout, int when, int direct, float **source, float **weights) {
  (void)sizes, (void)layout, (void)when, (void)direct, (void)source, (void)weights;
  return "OpenBLAS has no convolutions";
}

const char *peer_product(const long *sizes, int layout, int when, int accumulate, float **source, float **weights) {
  (void)when; /* it has no prepared matrices */
  if (layout != PEER_PLAIN)
    return "OpenBLAS has no layouts of its own";
  m = sizes[0], n = sizes[1], k = sizes[2];
  beta = accumulate ? 1.0f : 0.0f;
  *source = a = make_array((size_t)m * (size_t)k * sizeof(float));
  *weights = b = make_array((size_t)k * (size_t)n * sizeof(float));
  c = make_array((size_t)m * (size_t)n * sizeof(float));
  return a && b && c ? NULL : "not enough memory";
}

const char *peer_ready(peer_flush *flush) {
  (void)flush;
  snprintf(note, sizeof note, "%s (kernels for %s)", openblas_get_config(), openblas_get_corename());
  return NULL;
}

double peer_run(long repeats) {
  const double start = seconds();
  for (long i = 0; i < repeats; ++i)
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)m, (blasint)n, (blasint)k, 1.0f, a, (blasint)k, b,
                (blasint)n, beta, c, (blasint)n);
  return seconds() - start;
}

void peer_flush_arrays(peer_flush *flush) {
  flush(a, (size_t)m * (size_t)k * sizeof(float));
  flush(b, (size_t)k * (size_t)n * sizeof(float));
  flush(c, (size_t)m * (size_t)n * sizeof(float));
}

const float *peer_result(void) { return c; }

const char *peer_note(void) { return note; }
