#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */

/* A product in a triangle. */
#define covariance polydl_tuned_covariance
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void covariance(double c[32][32], const double a[8][32]) {
  {
    for (int i = 0; i <= 15; ++i) {
      for (int j = 0; j <= 15; ++j) {
        {
          double polydl_sum0 = 0;
          #pragma omp simd simdlen(8) reduction(+: polydl_sum0)
          for (int k = 0; k <= 7; ++k) {
            polydl_sum0 += a[k][i] * a[k][j + 16];
          }
          c[i][j + 16] += polydl_sum0;
        }
      }
    }
    for (int j_square = 0; j_square <= 1; ++j_square) {
      for (int i = 0; i <= 7; ++i) {
        for (int j = 0; j <= 7; ++j) {
          {
            double polydl_sum0 = 0;
            #pragma omp simd simdlen(8) reduction(+: polydl_sum0)
            for (int k = 0; k <= 7; ++k) {
              polydl_sum0 += a[k][16 * j_square + i] * a[k][16 * j_square + j + 8];
            }
            c[16 * j_square + i][16 * j_square + j + 8] += polydl_sum0;
          }
        }
      }
    }
    for (int j_square = 0; j_square <= 3; ++j_square) {
      for (int i = 0; i <= 7; ++i) {
        for (int j = i; j <= 7; ++j) {
          {
            double polydl_sum0 = 0;
            #pragma omp simd simdlen(8) reduction(+: polydl_sum0)
            for (int k = 0; k <= 7; ++k) {
              polydl_sum0 += a[k][8 * j_square + i] * a[k][8 * j_square + j];
            }
            c[8 * j_square + i][8 * j_square + j] += polydl_sum0;
          }
        }
      }
    }
  }
}
#undef covariance

/* for all processors */
void covariance(double c[32][32], const double a[8][32]) {
  if (polydl_fits()) {
    polydl_tuned_covariance(c, a);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 0; i < 32; i++)
    for (int j = i; j < 32; j++)
      for (int k = 0; k < 8; k++)
        c[i][j] += a[k][i] * a[k][j];
#endif
}
void covariance_release(void);
void covariance_release(void)
{
}
const char *covariance_missing(void);
const char *covariance_missing(void)
{
  return polydl_missing();
}
/* for this one */
