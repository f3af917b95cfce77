#include <stddef.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
/* transposing copies */
enum { polydl_arrays = 1, polydl_reserved = 1 };
static const size_t polydl_sizes[polydl_arrays] = {16896};
/* kept memory */
static const long polydl_gemm2_offsets_a[1] = {0};
static const long polydl_gemm2_offsets_b[1] = {0};
typedef float polydl_gemm2_vector8 __attribute__((vector_size(32), aligned(sizeof(float)), may_alias));
static const long polydl_gemm2_starts0[2] = {960, 1728};
static const long polydl_gemm2_starts1[2] = {110, 198};
static inline void polydl_gemm2_block0_1x5(const float *a, const float *b, float *c, long k, long count)
{
  polydl_gemm2_vector8 c0_0 = *(const polydl_gemm2_vector8 *)(c + 0);
  polydl_gemm2_vector8 c0_1 = *(const polydl_gemm2_vector8 *)(c + 22);
  polydl_gemm2_vector8 c0_2 = *(const polydl_gemm2_vector8 *)(c + 44);
  polydl_gemm2_vector8 c0_3 = *(const polydl_gemm2_vector8 *)(c + 66);
  polydl_gemm2_vector8 c0_4 = *(const polydl_gemm2_vector8 *)(c + 88);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm2_offsets_a[r];
    const float *br = b + polydl_gemm2_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 22 + 0);
      const polydl_gemm2_vector8 a0 = *(const polydl_gemm2_vector8 *)(ar + l * 22 + 0);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0;
      const float b1 = bl[192]; c0_1 += a0 * b1;
      const float b2 = bl[384]; c0_2 += a0 * b2;
      const float b3 = bl[576]; c0_3 += a0 * b3;
      const float b4 = bl[768]; c0_4 += a0 * b4;
    }
  }
  *(polydl_gemm2_vector8 *)(c + 0) = c0_0;
  *(polydl_gemm2_vector8 *)(c + 22) = c0_1;
  *(polydl_gemm2_vector8 *)(c + 44) = c0_2;
  *(polydl_gemm2_vector8 *)(c + 66) = c0_3;
  *(polydl_gemm2_vector8 *)(c + 88) = c0_4;
}
static inline void polydl_gemm2_block1_2x5(const float *a, const float *b, float *c, long k, long count)
{
  polydl_gemm2_vector8 c0_0 = *(const polydl_gemm2_vector8 *)(c + 0);
  polydl_gemm2_vector8 c1_0 = *(const polydl_gemm2_vector8 *)(c + 6);
  polydl_gemm2_vector8 c0_1 = *(const polydl_gemm2_vector8 *)(c + 22);
  polydl_gemm2_vector8 c1_1 = *(const polydl_gemm2_vector8 *)(c + 28);
  polydl_gemm2_vector8 c0_2 = *(const polydl_gemm2_vector8 *)(c + 44);
  polydl_gemm2_vector8 c1_2 = *(const polydl_gemm2_vector8 *)(c + 50);
  polydl_gemm2_vector8 c0_3 = *(const polydl_gemm2_vector8 *)(c + 66);
  polydl_gemm2_vector8 c1_3 = *(const polydl_gemm2_vector8 *)(c + 72);
  polydl_gemm2_vector8 c0_4 = *(const polydl_gemm2_vector8 *)(c + 88);
  polydl_gemm2_vector8 c1_4 = *(const polydl_gemm2_vector8 *)(c + 94);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm2_offsets_a[r];
    const float *br = b + polydl_gemm2_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 22 + 0);
      const polydl_gemm2_vector8 a0 = *(const polydl_gemm2_vector8 *)(ar + l * 22 + 0);
      const polydl_gemm2_vector8 a1 = *(const polydl_gemm2_vector8 *)(ar + l * 22 + 6);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0;
      const float b1 = bl[192]; c0_1 += a0 * b1; c1_1 += a1 * b1;
      const float b2 = bl[384]; c0_2 += a0 * b2; c1_2 += a1 * b2;
      const float b3 = bl[576]; c0_3 += a0 * b3; c1_3 += a1 * b3;
      const float b4 = bl[768]; c0_4 += a0 * b4; c1_4 += a1 * b4;
    }
  }
  *(polydl_gemm2_vector8 *)(c + 0) = c0_0;
  *(polydl_gemm2_vector8 *)(c + 6) = c1_0;
  *(polydl_gemm2_vector8 *)(c + 22) = c0_1;
  *(polydl_gemm2_vector8 *)(c + 28) = c1_1;
  *(polydl_gemm2_vector8 *)(c + 44) = c0_2;
  *(polydl_gemm2_vector8 *)(c + 50) = c1_2;
  *(polydl_gemm2_vector8 *)(c + 66) = c0_3;
  *(polydl_gemm2_vector8 *)(c + 72) = c1_3;
  *(polydl_gemm2_vector8 *)(c + 88) = c0_4;
  *(polydl_gemm2_vector8 *)(c + 94) = c1_4;
}
static inline void polydl_gemm2_block2_1x4(const float *a, const float *b, float *c, long k, long count)
{
  polydl_gemm2_vector8 c0_0 = *(const polydl_gemm2_vector8 *)(c + 0);
  polydl_gemm2_vector8 c0_1 = *(const polydl_gemm2_vector8 *)(c + 22);
  polydl_gemm2_vector8 c0_2 = *(const polydl_gemm2_vector8 *)(c + 44);
  polydl_gemm2_vector8 c0_3 = *(const polydl_gemm2_vector8 *)(c + 66);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm2_offsets_a[r];
    const float *br = b + polydl_gemm2_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 22 + 0);
      const polydl_gemm2_vector8 a0 = *(const polydl_gemm2_vector8 *)(ar + l * 22 + 0);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0;
      const float b1 = bl[192]; c0_1 += a0 * b1;
      const float b2 = bl[384]; c0_2 += a0 * b2;
      const float b3 = bl[576]; c0_3 += a0 * b3;
    }
  }
  *(polydl_gemm2_vector8 *)(c + 0) = c0_0;
  *(polydl_gemm2_vector8 *)(c + 22) = c0_1;
  *(polydl_gemm2_vector8 *)(c + 44) = c0_2;
  *(polydl_gemm2_vector8 *)(c + 66) = c0_3;
}
static inline void polydl_gemm2_block3_2x4(const float *a, const float *b, float *c, long k, long count)
{
  polydl_gemm2_vector8 c0_0 = *(const polydl_gemm2_vector8 *)(c + 0);
  polydl_gemm2_vector8 c1_0 = *(const polydl_gemm2_vector8 *)(c + 6);
  polydl_gemm2_vector8 c0_1 = *(const polydl_gemm2_vector8 *)(c + 22);
  polydl_gemm2_vector8 c1_1 = *(const polydl_gemm2_vector8 *)(c + 28);
  polydl_gemm2_vector8 c0_2 = *(const polydl_gemm2_vector8 *)(c + 44);
  polydl_gemm2_vector8 c1_2 = *(const polydl_gemm2_vector8 *)(c + 50);
  polydl_gemm2_vector8 c0_3 = *(const polydl_gemm2_vector8 *)(c + 66);
  polydl_gemm2_vector8 c1_3 = *(const polydl_gemm2_vector8 *)(c + 72);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm2_offsets_a[r];
    const float *br = b + polydl_gemm2_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 22 + 0);
      const polydl_gemm2_vector8 a0 = *(const polydl_gemm2_vector8 *)(ar + l * 22 + 0);
      const polydl_gemm2_vector8 a1 = *(const polydl_gemm2_vector8 *)(ar + l * 22 + 6);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0;
      const float b1 = bl[192]; c0_1 += a0 * b1; c1_1 += a1 * b1;
      const float b2 = bl[384]; c0_2 += a0 * b2; c1_2 += a1 * b2;
      const float b3 = bl[576]; c0_3 += a0 * b3; c1_3 += a1 * b3;
    }
  }
  *(polydl_gemm2_vector8 *)(c + 0) = c0_0;
  *(polydl_gemm2_vector8 *)(c + 6) = c1_0;
  *(polydl_gemm2_vector8 *)(c + 22) = c0_1;
  *(polydl_gemm2_vector8 *)(c + 28) = c1_1;
  *(polydl_gemm2_vector8 *)(c + 44) = c0_2;
  *(polydl_gemm2_vector8 *)(c + 50) = c1_2;
  *(polydl_gemm2_vector8 *)(c + 66) = c0_3;
  *(polydl_gemm2_vector8 *)(c + 72) = c1_3;
}
static void polydl_gemm2_run_000(const float *a, const float *b, float *c, long count)
{
  polydl_gemm2_block0_1x5(a + 0, b + 0, c + 0 + 0, 192, count);
  polydl_gemm2_block1_2x5(a + 8, b + 0, c + 8 + 0, 192, count);
  for (int i = 0; i < 2; ++i) {
    polydl_gemm2_block2_1x4(a + 0, b + polydl_gemm2_starts0[i], c + 0 + polydl_gemm2_starts1[i], 192, count);
    polydl_gemm2_block3_2x4(a + 8, b + polydl_gemm2_starts0[i], c + 8 + polydl_gemm2_starts1[i], 192, count);
  }
}
static void polydl_gemm2_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  (void)last_m;
  (void)last_n;
  (void)last_k;
  (void)first;
  if (1)
    polydl_gemm2_run_000(a, b, c, count);
}

/* A linear layer: rows of inputs by rows of weights. */
#define ROWS 13
#define OUTPUTS 22
#define INPUTS 192
#define linear polydl_tuned_linear
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void linear(float y[ROWS][OUTPUTS], const float x[ROWS][INPUTS], const float w[OUTPUTS][INPUTS]) {
  if (polydl_reserve()) {
    float (*w_packed)[22] = polydl_kept(0);
    polydl_transpose(&w_packed[0][0], 22, &w[0][0], 192, 192, 22);
    for (int i = 0; i <= 12; ++i) {
      #pragma omp simd simdlen(8)
      for (int j = 0; j <= 21; ++j) {
        y[i][j] = 0.0f;
      }
    }
    polydl_gemm2_run(&w_packed[0][0], &x[0][0], &y[0][0], 0, 0, 0, 1, 0);
    polydl_leave();
  } else {
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < OUTPUTS; j++) {
      y[i][j] = 0.0f;
      for (int k = 0; k < INPUTS; k++)
        y[i][j] += x[i][k] * w[j][k];
    }
  }
}
#undef linear

/* for all processors */
void linear(float y[ROWS][OUTPUTS], const float x[ROWS][INPUTS], const float w[OUTPUTS][INPUTS]) {
  if (polydl_fits()) {
    polydl_tuned_linear(y, x, w);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < OUTPUTS; j++) {
      y[i][j] = 0.0f;
      for (int k = 0; k < INPUTS; k++)
        y[i][j] += x[i][k] * w[j][k];
    }
#endif
}
void linear_release(void);
void linear_release(void)
{
  if (polydl_enter()) {
    polydl_drop();
    polydl_leave();
  }
}
const char *linear_missing(void);
const char *linear_missing(void)
{
  return polydl_missing();
}
/* for this one */
