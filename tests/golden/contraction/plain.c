#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */

/* A linear layer with sums in a local scalar, and an output that is added to: a tile of sums is all that is kept. */
#define M 80
#define N 224
#define K 64
#define contraction polydl_tuned_contraction
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void contraction(float Y[M][N], const float A[M][K], const float B[K][N], const float bias[N])
{
  {
    float sum_of[1][32] __attribute__((aligned(64)));
    for (int i = 0; i <= 79; ++i) {
      for (int j_t1 = 0; j_t1 <= 6; ++j_t1) {
        #pragma omp simd simdlen(8)
        for (int polydl_c4 = 32 * j_t1; polydl_c4 <= ((32 * j_t1) + 31); ++polydl_c4) {
          sum_of[0][polydl_c4 - 32 * j_t1] = bias[polydl_c4];
        }
        for (int polydl_c4 = 0; polydl_c4 <= 63; ++polydl_c4) {
          #pragma omp simd simdlen(8)
          for (int j = 32 * j_t1; j <= ((32 * j_t1) + 31); ++j) {
            sum_of[0][j - 32 * j_t1] += A[i][polydl_c4] * B[polydl_c4][j];
          }
        }
        #pragma omp simd simdlen(8)
        for (int polydl_c4 = 32 * j_t1; polydl_c4 <= ((32 * j_t1) + 31); ++polydl_c4) {
          Y[i][polydl_c4] += (sum_of[0][polydl_c4 - 32 * j_t1] > 0.0f) ? sum_of[0][polydl_c4 - 32 * j_t1] : 0.0f;
        }
      }
    }
  }
}
#undef contraction

/* for all processors */
void contraction(float Y[M][N], const float A[M][K], const float B[K][N], const float bias[N])
{
  if (polydl_fits()) {
    polydl_tuned_contraction(Y, A, B, bias);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      float sum = bias[j];
      for (int k = 0; k < K; ++k)
        sum += A[i][k] * B[k][j];
      Y[i][j] += sum > 0.0f ? sum : 0.0f;
    }
#endif
}
void contraction_release(void);
void contraction_release(void)
{
}
const char *contraction_missing(void);
const char *contraction_missing(void)
{
  return polydl_missing();
}
/* for this one */
