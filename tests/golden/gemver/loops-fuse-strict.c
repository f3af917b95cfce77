#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */

/* B = A + u1 v1' + u2 v2', then x = beta B'y + z and w = alpha B x.
 *
 * Override a size with -D.
 */
#ifndef N
#define N 1024
#endif
#define gemver polydl_tuned_gemver
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void gemver(const float alpha, const float beta, const float A[N][N], const float u1[N], const float v1[N],
            const float u2[N], const float v2[N], const float y[N], const float z[N], float B[N][N], float x[N], float w[N])
{
  {
    #pragma omp simd simdlen(8)
    for (int i = 0; i <= 1023; ++i) {
      x[i] = z[i];
    }
    for (int i = 0; i <= 1023; ++i) {
      {
        const float polydl_once0 = u1[i];
        const float polydl_once1 = u2[i];
        const float polydl_once2 = y[i];
        #pragma omp simd simdlen(8)
        for (int j = 0; j <= 1023; ++j) {
          float polydl_scalar0;
          polydl_scalar0 = (A[i][j] + (polydl_once0 * v1[j])) + (polydl_once1 * v2[j]);
          x[j] += (beta * polydl_scalar0) * polydl_once2;
          B[i][j] = polydl_scalar0;
        }
      }
    }
    for (int i = 0; i <= 1023; ++i) {
      w[i] = 0.0f;
      for (int j = 0; j <= 1023; ++j) {
        w[i] += (alpha * B[i][j]) * x[j];
      }
    }
  }
}
#undef gemver

/* for all processors */
void gemver(const float alpha, const float beta, const float A[N][N], const float u1[N], const float v1[N],
            const float u2[N], const float v2[N], const float y[N], const float z[N], float B[N][N], float x[N], float w[N])
{
  if (polydl_fits()) {
    polydl_tuned_gemver(alpha, beta, A, u1, v1, u2, v2, y, z, B, x, w);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      B[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j];

  for (int i = 0; i < N; ++i)
    x[i] = z[i];

  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      x[j] += beta * B[i][j] * y[i];

  for (int i = 0; i < N; ++i)
    w[i] = 0.0f;

  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      w[i] += alpha * B[i][j] * x[j];
#endif
}
void gemver_release(void);
void gemver_release(void)
{
}
const char *gemver_missing(void);
const char *gemver_missing(void)
{
  return polydl_missing();
}
/* for this one */
