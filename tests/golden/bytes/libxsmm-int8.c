#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#pragma GCC diagnostic ignored "-Wunused-variable"

/* processor */
/* team */
static struct polydl_team polydl_team;
#ifndef POLYDL_EXACT_BYTES
#define POLYDL_EXACT_BYTES
typedef void (*polydl_bytes)(const char *, const unsigned char *, int *, const unsigned long long *,
                             const unsigned long long *, const unsigned long long *);
/* Whether a kernel adds the product of the largest bytes k times. */
static int polydl_is_exact(polydl_bytes kernel, int m, int n, int k, int lda, int ldb, int ldc, int first)
{
  const unsigned long long one = 1, zero = 0;
  const size_t size_a = (size_t)lda * k, size_b = (size_t)ldb * n, size_c = (size_t)ldc * n;
  char *a = malloc(size_a + 64); /* whose last lines may be read whole */
  unsigned char *b = malloc(size_b + 64);
  int *c = malloc(size_c * sizeof *c), exact = a && b && c;
  if (exact) {
    memset(a, 127, size_a);
    memset(b, 255, size_b);
    for (size_t place = 0; place < size_c; ++place)
      c[place] = 7;
    kernel(a, b, c, &one, &zero, &zero);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i)
        exact &= c[i + j * (size_t)ldc] == (first ? 0 : 7) + 127 * 255 * k;
  }
  free(a);
  free(b);
  free(c);
  return exact;
}
#endif
typedef void (*polydl_gemm0_function)(
    const char *a, const unsigned char *b, int *c, ...);
polydl_gemm0_function libxsmm_subimmdispatch(int m, int n, int k, const int *lda, const int *ldb, const int *ldc,
    const int *alpha, const int *beta, const int *flags, const int *prefetch);
static polydl_gemm0_function polydl_gemm0_kernel[2][2][2][2];
static const long polydl_gemm0_offsets_a[1] = {0};
static const long polydl_gemm0_offsets_b[1] = {0};
static void polydl_gemm0_loops(const signed char *a, const unsigned char *b, int *c, int last_m, int last_n, int last_k, long count, int first)
{
  const long m = last_m ? 48 : 48, n = last_n ? 64 : 64, k = last_k ? 128 : 128;
  if (first)
    for (long j = 0; j < n; ++j)
      for (long i = 0; i < m; ++i)
        c[i + j * 96] = 0;
  for (long r = 0; r < count; ++r)
    for (long j = 0; j < n; ++j)
      for (long l = 0; l < k; ++l) {
        const signed char *column = a + polydl_gemm0_offsets_a[r] + l * 96;
        const int factor = b[polydl_gemm0_offsets_b[r] + j * 128 + l * 1];
        for (long i = 0; i < m; ++i)
          c[i + j * 96] += column[1 * i] * factor;
      }
}
static _Thread_local signed char polydl_gemm0_groups[1][6144] __attribute__((aligned(64)));
static const signed char *polydl_gemm0_in_groups(const signed char *a, long m, long k, long count)
{
  const int slot = 0;
  signed char *restrict to = polydl_gemm0_groups[slot];
  for (long r = 0; r < count; ++r)
    for (long l = 0; l < k; l += 4, to += 4 * m) {
      const signed char *from = a + polydl_gemm0_offsets_a[r] + l * 96;
      for (long i = 0; i < m; ++i) {
        to[4 * i + 0] = from[i + 0];
        to[4 * i + 1] = from[i + 96];
        to[4 * i + 2] = from[i + 192];
        to[4 * i + 3] = from[i + 288];
      }
    }
  return polydl_gemm0_groups[slot];
}
static inline void polydl_gemm0_run(const signed char *a, const unsigned char *b, int *c, int last_m, int last_n, int last_k, long count, int first)
{
  const polydl_gemm0_function kernel = polydl_gemm0_kernel[first][last_m][last_n][last_k];
  if (kernel) {
    const signed char *groups = polydl_gemm0_in_groups(a, last_m ? 48 : 48, last_k ? 128 : 128, count);
    kernel((const char *)groups, (const unsigned char *)b, c);
  } else
    polydl_gemm0_loops(a, b, c, last_m, last_n, last_k, count, first);
}
static pthread_once_t polydl_once = PTHREAD_ONCE_INIT;
static void polydl_setup(void)
{
  {
    const int lda = 48, ldb = 128, ldc = 96;
    const int alpha = 1, beta = 1;
    const int flags = 32768; /* A is in groups of k */
    polydl_gemm0_kernel[0][0][0][0] =
        libxsmm_subimmdispatch(48, 64, 128, &lda, &ldb, &ldc, &alpha, &beta, &flags, NULL);
    if (polydl_gemm0_kernel[0][0][0][0] && !polydl_is_exact((polydl_bytes)(void (*)(void))polydl_gemm0_kernel[0][0][0][0], 48, 64, 128, lda, ldb, ldc, 0))
      polydl_gemm0_kernel[0][0][0][0] = NULL;
  }
}

/* A product of bytes in plain layouts, one operand with signs. */
#include <stdint.h>
#define bytes polydl_tuned_bytes
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void bytes(int32_t C[64][96], const uint8_t A[64][128], const int8_t B[128][96])
{
  {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    pthread_once(&polydl_once, polydl_setup);
    #pragma omp parallel for
    for (int j_t1 = 0; j_t1 <= 1; ++j_t1) {
      polydl_gemm0_run(&B[0][48 * (long)j_t1], &A[0][0], &C[0][48 * (long)j_t1], 0, 0, 0, 1, 0);
    }
    polydl_end(&polydl_call);
  }
}
#undef bytes

/* for all processors */
void bytes(int32_t C[64][96], const uint8_t A[64][128], const int8_t B[128][96])
{
  if (polydl_fits()) {
    polydl_tuned_bytes(C, A, B);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 96; j++)
      for (int k = 0; k < 128; k++)
        C[i][j] += A[i][k] * B[k][j];
#endif
}
void bytes_release(void);
void bytes_release(void)
{
}
const char *bytes_missing(void);
const char *bytes_missing(void)
{
  return polydl_missing();
}
/* for this one */
