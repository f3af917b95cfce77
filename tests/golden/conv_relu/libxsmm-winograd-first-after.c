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
/* team */
static struct polydl_team polydl_team;
enum { polydl_arrays = 3, polydl_reserved = 3 };
static const size_t polydl_sizes[polydl_arrays] = {172032, 65536, 172032};
/* kept memory */
typedef void (*polydl_gemm3_function)(
    const float *a, const float *b, float *c, ...);
polydl_gemm3_function libxsmm_smmdispatch(int m, int n, int k, const int *lda, const int *ldb, const int *ldc,
    const float *alpha, const float *beta, const int *flags, const int *prefetch);
static polydl_gemm3_function polydl_gemm3_kernel[2][2][2][2];
static void polydl_gemm3_loops(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  const long m = last_m ? 16 : 16, n = last_n ? 42 : 42, k = last_k ? 16 : 16;
  if (first)
    for (long j = 0; j < n; ++j)
      for (long i = 0; i < m; ++i)
        c[i + j * 16] = 0;
  for (long r = 0; r < count; ++r)
    for (long j = 0; j < n; ++j)
      for (long l = 0; l < k; ++l) {
        const float *column = a + l * 16;
        const float factor = (b)[j * 16 + l * 1];
        for (long i = 0; i < m; ++i)
          c[i + j * 16] += column[i] * factor;
      }
}
static inline void polydl_gemm3_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  const polydl_gemm3_function kernel = polydl_gemm3_kernel[first][last_m][last_n][last_k];
  if (kernel)
    kernel(a, b, c);
  else
    polydl_gemm3_loops(a, b, c, last_m, last_n, last_k, count, first);
}
typedef float polydl_image_S1_vector_16
  __attribute__((vector_size(64), aligned(4), may_alias));
static inline __attribute__((always_inline)) void polydl_image_S1_by_16(
    const float *from, float *to, long from0, long from1, long to0, long to1)
{
  const polydl_image_S1_vector_16 x0_0 = *(const polydl_image_S1_vector_16 *)(from + 0 * from0 + 0 * from1);
  const polydl_image_S1_vector_16 x1_0 = *(const polydl_image_S1_vector_16 *)(from + 1 * from0 + 0 * from1);
  const polydl_image_S1_vector_16 x2_0 = *(const polydl_image_S1_vector_16 *)(from + 2 * from0 + 0 * from1);
  const polydl_image_S1_vector_16 x3_0 = *(const polydl_image_S1_vector_16 *)(from + 3 * from0 + 0 * from1);
  const polydl_image_S1_vector_16 t0_0 = x2_0 - x0_0;
  const polydl_image_S1_vector_16 t1_0 = x1_0 + x2_0;
  const polydl_image_S1_vector_16 t2_0 = x2_0 - x1_0;
  const polydl_image_S1_vector_16 t3_0 = x3_0 - x1_0;
  const polydl_image_S1_vector_16 x0_1 = *(const polydl_image_S1_vector_16 *)(from + 0 * from0 + 1 * from1);
  const polydl_image_S1_vector_16 x1_1 = *(const polydl_image_S1_vector_16 *)(from + 1 * from0 + 1 * from1);
  const polydl_image_S1_vector_16 x2_1 = *(const polydl_image_S1_vector_16 *)(from + 2 * from0 + 1 * from1);
  const polydl_image_S1_vector_16 x3_1 = *(const polydl_image_S1_vector_16 *)(from + 3 * from0 + 1 * from1);
  const polydl_image_S1_vector_16 t0_1 = x2_1 - x0_1;
  const polydl_image_S1_vector_16 t1_1 = x1_1 + x2_1;
  const polydl_image_S1_vector_16 t2_1 = x2_1 - x1_1;
  const polydl_image_S1_vector_16 t3_1 = x3_1 - x1_1;
  const polydl_image_S1_vector_16 x0_2 = *(const polydl_image_S1_vector_16 *)(from + 0 * from0 + 2 * from1);
  const polydl_image_S1_vector_16 x1_2 = *(const polydl_image_S1_vector_16 *)(from + 1 * from0 + 2 * from1);
  const polydl_image_S1_vector_16 x2_2 = *(const polydl_image_S1_vector_16 *)(from + 2 * from0 + 2 * from1);
  const polydl_image_S1_vector_16 x3_2 = *(const polydl_image_S1_vector_16 *)(from + 3 * from0 + 2 * from1);
  const polydl_image_S1_vector_16 t0_2 = x2_2 - x0_2;
  const polydl_image_S1_vector_16 t1_2 = x1_2 + x2_2;
  const polydl_image_S1_vector_16 t2_2 = x2_2 - x1_2;
  const polydl_image_S1_vector_16 t3_2 = x3_2 - x1_2;
  const polydl_image_S1_vector_16 x0_3 = *(const polydl_image_S1_vector_16 *)(from + 0 * from0 + 3 * from1);
  const polydl_image_S1_vector_16 x1_3 = *(const polydl_image_S1_vector_16 *)(from + 1 * from0 + 3 * from1);
  const polydl_image_S1_vector_16 x2_3 = *(const polydl_image_S1_vector_16 *)(from + 2 * from0 + 3 * from1);
  const polydl_image_S1_vector_16 x3_3 = *(const polydl_image_S1_vector_16 *)(from + 3 * from0 + 3 * from1);
  const polydl_image_S1_vector_16 t0_3 = x2_3 - x0_3;
  const polydl_image_S1_vector_16 t1_3 = x1_3 + x2_3;
  const polydl_image_S1_vector_16 t2_3 = x2_3 - x1_3;
  const polydl_image_S1_vector_16 t3_3 = x3_3 - x1_3;
  const polydl_image_S1_vector_16 y0_0 = t0_2 - t0_0;
  const polydl_image_S1_vector_16 y0_1 = t0_1 + t0_2;
  const polydl_image_S1_vector_16 y0_2 = t0_2 - t0_1;
  const polydl_image_S1_vector_16 y0_3 = t0_3 - t0_1;
  *(polydl_image_S1_vector_16 *)(to + 0 * to0 + 0 * to1) = y0_0;
  *(polydl_image_S1_vector_16 *)(to + 0 * to0 + 1 * to1) = y0_1;
  *(polydl_image_S1_vector_16 *)(to + 0 * to0 + 2 * to1) = y0_2;
  *(polydl_image_S1_vector_16 *)(to + 0 * to0 + 3 * to1) = y0_3;
  const polydl_image_S1_vector_16 y1_0 = t1_2 - t1_0;
  const polydl_image_S1_vector_16 y1_1 = t1_1 + t1_2;
  const polydl_image_S1_vector_16 y1_2 = t1_2 - t1_1;
  const polydl_image_S1_vector_16 y1_3 = t1_3 - t1_1;
  *(polydl_image_S1_vector_16 *)(to + 1 * to0 + 0 * to1) = y1_0;
  *(polydl_image_S1_vector_16 *)(to + 1 * to0 + 1 * to1) = y1_1;
  *(polydl_image_S1_vector_16 *)(to + 1 * to0 + 2 * to1) = y1_2;
  *(polydl_image_S1_vector_16 *)(to + 1 * to0 + 3 * to1) = y1_3;
  const polydl_image_S1_vector_16 y2_0 = t2_2 - t2_0;
  const polydl_image_S1_vector_16 y2_1 = t2_1 + t2_2;
  const polydl_image_S1_vector_16 y2_2 = t2_2 - t2_1;
  const polydl_image_S1_vector_16 y2_3 = t2_3 - t2_1;
  *(polydl_image_S1_vector_16 *)(to + 2 * to0 + 0 * to1) = y2_0;
  *(polydl_image_S1_vector_16 *)(to + 2 * to0 + 1 * to1) = y2_1;
  *(polydl_image_S1_vector_16 *)(to + 2 * to0 + 2 * to1) = y2_2;
  *(polydl_image_S1_vector_16 *)(to + 2 * to0 + 3 * to1) = y2_3;
  const polydl_image_S1_vector_16 y3_0 = t3_2 - t3_0;
  const polydl_image_S1_vector_16 y3_1 = t3_1 + t3_2;
  const polydl_image_S1_vector_16 y3_2 = t3_2 - t3_1;
  const polydl_image_S1_vector_16 y3_3 = t3_3 - t3_1;
  *(polydl_image_S1_vector_16 *)(to + 3 * to0 + 0 * to1) = y3_0;
  *(polydl_image_S1_vector_16 *)(to + 3 * to0 + 1 * to1) = y3_1;
  *(polydl_image_S1_vector_16 *)(to + 3 * to0 + 2 * to1) = y3_2;
  *(polydl_image_S1_vector_16 *)(to + 3 * to0 + 3 * to1) = y3_3;
}
static void polydl_image_S1(const float *restrict from, float *restrict to)
{
  for (int lane = 0; lane < 16; lane += 16) {
    polydl_image_S1_by_16(from + lane, to + lane, 256, 16, 2688, 672);
  }
}
typedef float polydl_filter_S1_vector_16
  __attribute__((vector_size(64), aligned(4), may_alias));
static inline __attribute__((always_inline)) void polydl_filter_S1_by_16(
    const float *from, float *to, long from0, long from1, long to0, long to1)
{
  const polydl_filter_S1_vector_16 x0_0 = *(const polydl_filter_S1_vector_16 *)(from + 0 * from0 + 0 * from1);
  const polydl_filter_S1_vector_16 x1_0 = *(const polydl_filter_S1_vector_16 *)(from + 1 * from0 + 0 * from1);
  const polydl_filter_S1_vector_16 x2_0 = *(const polydl_filter_S1_vector_16 *)(from + 2 * from0 + 0 * from1);
  const polydl_filter_S1_vector_16 t0_0 = -x0_0;
  const polydl_filter_S1_vector_16 a0_e1 = 0.5f * x0_0 + 0.5f * x2_0;
  const polydl_filter_S1_vector_16 a0_o1 = 0.5f * x1_0;
  const polydl_filter_S1_vector_16 t1_0 = a0_e1 + a0_o1;
  const polydl_filter_S1_vector_16 t2_0 = a0_e1 - a0_o1;
  const polydl_filter_S1_vector_16 t3_0 = x2_0;
  const polydl_filter_S1_vector_16 x0_1 = *(const polydl_filter_S1_vector_16 *)(from + 0 * from0 + 1 * from1);
  const polydl_filter_S1_vector_16 x1_1 = *(const polydl_filter_S1_vector_16 *)(from + 1 * from0 + 1 * from1);
  const polydl_filter_S1_vector_16 x2_1 = *(const polydl_filter_S1_vector_16 *)(from + 2 * from0 + 1 * from1);
  const polydl_filter_S1_vector_16 t0_1 = -x0_1;
  const polydl_filter_S1_vector_16 a1_e1 = 0.5f * x0_1 + 0.5f * x2_1;
  const polydl_filter_S1_vector_16 a1_o1 = 0.5f * x1_1;
  const polydl_filter_S1_vector_16 t1_1 = a1_e1 + a1_o1;
  const polydl_filter_S1_vector_16 t2_1 = a1_e1 - a1_o1;
  const polydl_filter_S1_vector_16 t3_1 = x2_1;
  const polydl_filter_S1_vector_16 x0_2 = *(const polydl_filter_S1_vector_16 *)(from + 0 * from0 + 2 * from1);
  const polydl_filter_S1_vector_16 x1_2 = *(const polydl_filter_S1_vector_16 *)(from + 1 * from0 + 2 * from1);
  const polydl_filter_S1_vector_16 x2_2 = *(const polydl_filter_S1_vector_16 *)(from + 2 * from0 + 2 * from1);
  const polydl_filter_S1_vector_16 t0_2 = -x0_2;
  const polydl_filter_S1_vector_16 a2_e1 = 0.5f * x0_2 + 0.5f * x2_2;
  const polydl_filter_S1_vector_16 a2_o1 = 0.5f * x1_2;
  const polydl_filter_S1_vector_16 t1_2 = a2_e1 + a2_o1;
  const polydl_filter_S1_vector_16 t2_2 = a2_e1 - a2_o1;
  const polydl_filter_S1_vector_16 t3_2 = x2_2;
  const polydl_filter_S1_vector_16 y0_0 = -t0_0;
  const polydl_filter_S1_vector_16 b0_e1 = 0.5f * t0_0 + 0.5f * t0_2;
  const polydl_filter_S1_vector_16 b0_o1 = 0.5f * t0_1;
  const polydl_filter_S1_vector_16 y0_1 = b0_e1 + b0_o1;
  const polydl_filter_S1_vector_16 y0_2 = b0_e1 - b0_o1;
  const polydl_filter_S1_vector_16 y0_3 = t0_2;
  *(polydl_filter_S1_vector_16 *)(to + 0 * to0 + 0 * to1) = y0_0;
  *(polydl_filter_S1_vector_16 *)(to + 0 * to0 + 1 * to1) = y0_1;
  *(polydl_filter_S1_vector_16 *)(to + 0 * to0 + 2 * to1) = y0_2;
  *(polydl_filter_S1_vector_16 *)(to + 0 * to0 + 3 * to1) = y0_3;
  const polydl_filter_S1_vector_16 y1_0 = -t1_0;
  const polydl_filter_S1_vector_16 b1_e1 = 0.5f * t1_0 + 0.5f * t1_2;
  const polydl_filter_S1_vector_16 b1_o1 = 0.5f * t1_1;
  const polydl_filter_S1_vector_16 y1_1 = b1_e1 + b1_o1;
  const polydl_filter_S1_vector_16 y1_2 = b1_e1 - b1_o1;
  const polydl_filter_S1_vector_16 y1_3 = t1_2;
  *(polydl_filter_S1_vector_16 *)(to + 1 * to0 + 0 * to1) = y1_0;
  *(polydl_filter_S1_vector_16 *)(to + 1 * to0 + 1 * to1) = y1_1;
  *(polydl_filter_S1_vector_16 *)(to + 1 * to0 + 2 * to1) = y1_2;
  *(polydl_filter_S1_vector_16 *)(to + 1 * to0 + 3 * to1) = y1_3;
  const polydl_filter_S1_vector_16 y2_0 = -t2_0;
  const polydl_filter_S1_vector_16 b2_e1 = 0.5f * t2_0 + 0.5f * t2_2;
  const polydl_filter_S1_vector_16 b2_o1 = 0.5f * t2_1;
  const polydl_filter_S1_vector_16 y2_1 = b2_e1 + b2_o1;
  const polydl_filter_S1_vector_16 y2_2 = b2_e1 - b2_o1;
  const polydl_filter_S1_vector_16 y2_3 = t2_2;
  *(polydl_filter_S1_vector_16 *)(to + 2 * to0 + 0 * to1) = y2_0;
  *(polydl_filter_S1_vector_16 *)(to + 2 * to0 + 1 * to1) = y2_1;
  *(polydl_filter_S1_vector_16 *)(to + 2 * to0 + 2 * to1) = y2_2;
  *(polydl_filter_S1_vector_16 *)(to + 2 * to0 + 3 * to1) = y2_3;
  const polydl_filter_S1_vector_16 y3_0 = -t3_0;
  const polydl_filter_S1_vector_16 b3_e1 = 0.5f * t3_0 + 0.5f * t3_2;
  const polydl_filter_S1_vector_16 b3_o1 = 0.5f * t3_1;
  const polydl_filter_S1_vector_16 y3_1 = b3_e1 + b3_o1;
  const polydl_filter_S1_vector_16 y3_2 = b3_e1 - b3_o1;
  const polydl_filter_S1_vector_16 y3_3 = t3_2;
  *(polydl_filter_S1_vector_16 *)(to + 3 * to0 + 0 * to1) = y3_0;
  *(polydl_filter_S1_vector_16 *)(to + 3 * to0 + 1 * to1) = y3_1;
  *(polydl_filter_S1_vector_16 *)(to + 3 * to0 + 2 * to1) = y3_2;
  *(polydl_filter_S1_vector_16 *)(to + 3 * to0 + 3 * to1) = y3_3;
}
static void polydl_filter_S1(const float *restrict from, float *restrict to)
{
  for (int lane = 0; lane < 16; lane += 16) {
    polydl_filter_S1_by_16(from + lane, to + lane, 768, 256, 1024, 256);
  }
}
typedef float polydl_result_S1_vector_16
  __attribute__((vector_size(64), aligned(4), may_alias));
static inline __attribute__((always_inline)) void polydl_result_S1_by_16(
    const float *from, float *to, long from0, long from1, long to0, long to1)
{
  const polydl_result_S1_vector_16 x0_0 = *(const polydl_result_S1_vector_16 *)(from + 0 * from0 + 0 * from1);
  const polydl_result_S1_vector_16 x1_0 = *(const polydl_result_S1_vector_16 *)(from + 1 * from0 + 0 * from1);
  const polydl_result_S1_vector_16 x2_0 = *(const polydl_result_S1_vector_16 *)(from + 2 * from0 + 0 * from1);
  const polydl_result_S1_vector_16 x3_0 = *(const polydl_result_S1_vector_16 *)(from + 3 * from0 + 0 * from1);
  const polydl_result_S1_vector_16 t0_0 = x0_0 + x1_0 + x2_0;
  const polydl_result_S1_vector_16 t1_0 = x1_0 + x3_0 - x2_0;
  const polydl_result_S1_vector_16 x0_1 = *(const polydl_result_S1_vector_16 *)(from + 0 * from0 + 1 * from1);
  const polydl_result_S1_vector_16 x1_1 = *(const polydl_result_S1_vector_16 *)(from + 1 * from0 + 1 * from1);
  const polydl_result_S1_vector_16 x2_1 = *(const polydl_result_S1_vector_16 *)(from + 2 * from0 + 1 * from1);
  const polydl_result_S1_vector_16 x3_1 = *(const polydl_result_S1_vector_16 *)(from + 3 * from0 + 1 * from1);
  const polydl_result_S1_vector_16 t0_1 = x0_1 + x1_1 + x2_1;
  const polydl_result_S1_vector_16 t1_1 = x1_1 + x3_1 - x2_1;
  const polydl_result_S1_vector_16 x0_2 = *(const polydl_result_S1_vector_16 *)(from + 0 * from0 + 2 * from1);
  const polydl_result_S1_vector_16 x1_2 = *(const polydl_result_S1_vector_16 *)(from + 1 * from0 + 2 * from1);
  const polydl_result_S1_vector_16 x2_2 = *(const polydl_result_S1_vector_16 *)(from + 2 * from0 + 2 * from1);
  const polydl_result_S1_vector_16 x3_2 = *(const polydl_result_S1_vector_16 *)(from + 3 * from0 + 2 * from1);
  const polydl_result_S1_vector_16 t0_2 = x0_2 + x1_2 + x2_2;
  const polydl_result_S1_vector_16 t1_2 = x1_2 + x3_2 - x2_2;
  const polydl_result_S1_vector_16 x0_3 = *(const polydl_result_S1_vector_16 *)(from + 0 * from0 + 3 * from1);
  const polydl_result_S1_vector_16 x1_3 = *(const polydl_result_S1_vector_16 *)(from + 1 * from0 + 3 * from1);
  const polydl_result_S1_vector_16 x2_3 = *(const polydl_result_S1_vector_16 *)(from + 2 * from0 + 3 * from1);
  const polydl_result_S1_vector_16 x3_3 = *(const polydl_result_S1_vector_16 *)(from + 3 * from0 + 3 * from1);
  const polydl_result_S1_vector_16 t0_3 = x0_3 + x1_3 + x2_3;
  const polydl_result_S1_vector_16 t1_3 = x1_3 + x3_3 - x2_3;
  const polydl_result_S1_vector_16 y0_0 = t0_0 + t0_1 + t0_2;
  const polydl_result_S1_vector_16 y0_1 = t0_1 + t0_3 - t0_2;
  *(polydl_result_S1_vector_16 *)(to + 0 * to0 + 0 * to1) = y0_0;
  *(polydl_result_S1_vector_16 *)(to + 0 * to0 + 1 * to1) = y0_1;
  const polydl_result_S1_vector_16 y1_0 = t1_0 + t1_1 + t1_2;
  const polydl_result_S1_vector_16 y1_1 = t1_1 + t1_3 - t1_2;
  *(polydl_result_S1_vector_16 *)(to + 1 * to0 + 0 * to1) = y1_0;
  *(polydl_result_S1_vector_16 *)(to + 1 * to0 + 1 * to1) = y1_1;
}
static void polydl_result_S1(const float *restrict from, float *restrict to)
{
  for (int lane = 0; lane < 16; lane += 16) {
    polydl_result_S1_by_16(from + lane, to + lane, 2688, 672, 224, 16);
  }
}
static pthread_once_t polydl_once = PTHREAD_ONCE_INIT;
static void polydl_setup(void)
{
  {
    const int lda = 16, ldb = 16, ldc = 16;
    const float alpha = 1, beta = 1;
    const int flags = 0;
    polydl_gemm3_kernel[0][0][0][0] =
        libxsmm_smmdispatch(16, 42, 16, &lda, &ldb, &ldc, &alpha, &beta, &flags, NULL);
  }
  {
    const int lda = 16, ldb = 16, ldc = 16;
    const float alpha = 1, beta = 0;
    const int flags = 0;
    polydl_gemm3_kernel[1][0][0][0] =
        libxsmm_smmdispatch(16, 42, 16, &lda, &ldb, &ldc, &alpha, &beta, &flags, NULL);
  }
}

/* A 3x3 convolution blocked by 16 channels, from zero, with a bias and ReLU behind it. */
#define conv_relu polydl_tuned_conv_relu
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void conv_relu(float output[2][2][12][14][16], const float filter[2][2][3][3][16][16],
               const float input[2][2][14][16][16], const float bias[2][16])
{
  if (polydl_reserve()) {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    float (*input_points)[2][16][42][16] = polydl_kept(0);
    float (*filter_points)[2][16][16][16] = polydl_kept(1);
    float (*output_points)[2][16][42][16] = polydl_kept(2);
    pthread_once(&polydl_once, polydl_setup);
    #pragma omp parallel for
    for (int img = 0; img <= 1; ++img) {
      for (int ifm_tile = 0; ifm_tile <= 1; ++ifm_tile) {
        for (int oj = 0; oj <= 5; ++oj) {
          for (int oi = 0; oi <= 6; ++oi) {
            polydl_image_S1(&input[img][ifm_tile][2 * oj][2 * oi][0], &input_points[img][ifm_tile][0][7 * oj + oi][0]);
          }
        }
      }
    }
    polydl_between();
    #pragma omp parallel for
    for (int ofm_tile = 0; ofm_tile <= 1; ++ofm_tile) {
      for (int ifm_tile = 0; ifm_tile <= 1; ++ifm_tile) {
        for (int ifm = 0; ifm <= 15; ++ifm) {
          polydl_filter_S1(&filter[ofm_tile][ifm_tile][0][0][ifm][0], &filter_points[ofm_tile][ifm_tile][0][ifm][0]);
        }
      }
    }
    polydl_between();
    #pragma omp parallel for
    for (int img = 0; img <= 1; ++img) {
      for (int ofm_tile = 0; ofm_tile <= 1; ++ofm_tile) {
        for (int ifm_tile = 0; ifm_tile <= 1; ++ifm_tile) {
          for (int point = 0; point <= 15; ++point) {
            polydl_gemm3_run(&filter_points[ofm_tile][ifm_tile][point][0][0], &input_points[img][ifm_tile][point][0][0], &output_points[img][ofm_tile][point][0][0], 0, 0, 0, 1, ifm_tile == 0);
          }
        }
      }
    }
    polydl_between();
    #pragma omp parallel for
    for (int img = 0; img <= 1; ++img) {
      for (int ofm_tile = 0; ofm_tile <= 1; ++ofm_tile) {
        for (int oj = 0; oj <= 5; ++oj) {
          for (int oi = 0; oi <= 6; ++oi) {
            {
              polydl_result_S1(&output_points[img][ofm_tile][0][7 * oj + oi][0], &output[img][ofm_tile][2 * oj][2 * oi][0]);
              for (int polydl_pixel0 = 0; polydl_pixel0 < 2; ++polydl_pixel0) {
                for (int polydl_pixel1 = 0; polydl_pixel1 < 2; ++polydl_pixel1) {
                  #pragma omp simd
                  for (int polydl_lane = 0; polydl_lane < 16; ++polydl_lane)
                    output[img][ofm_tile][2 * oj + polydl_pixel0][2 * oi + polydl_pixel1][polydl_lane] = ((output[img][ofm_tile][2 * oj + polydl_pixel0][2 * oi + polydl_pixel1][polydl_lane] + bias[ofm_tile][polydl_lane]) > 0.0f) ? (output[img][ofm_tile][2 * oj + polydl_pixel0][2 * oi + polydl_pixel1][polydl_lane] + bias[ofm_tile][polydl_lane]) : 0.0f;
                }
              }
            }
          }
        }
      }
    }
    polydl_end(&polydl_call);
    polydl_leave();
  } else {
  for (int img = 0; img < 2; ++img)
    for (int ofm_tile = 0; ofm_tile < 2; ++ofm_tile)
      for (int oj = 0; oj < 12; ++oj)
        for (int oi = 0; oi < 14; ++oi)
          for (int ofm = 0; ofm < 16; ++ofm)
            output[img][ofm_tile][oj][oi][ofm] = 0.0f;
  for (int img = 0; img < 2; ++img)
    for (int ofm_tile = 0; ofm_tile < 2; ++ofm_tile)
      for (int ifm_tile = 0; ifm_tile < 2; ++ifm_tile)
        for (int oj = 0; oj < 12; ++oj)
          for (int kj = 0; kj < 3; ++kj)
            for (int ki = 0; ki < 3; ++ki)
              for (int oi = 0; oi < 14; ++oi)
                for (int ofm = 0; ofm < 16; ++ofm)
                  for (int ifm = 0; ifm < 16; ++ifm)
                    output[img][ofm_tile][oj][oi][ofm] +=
                        filter[ofm_tile][ifm_tile][kj][ki][ifm][ofm] * input[img][ifm_tile][oj + kj][oi + ki][ifm];
  for (int img = 0; img < 2; ++img)
    for (int ofm_tile = 0; ofm_tile < 2; ++ofm_tile)
      for (int oj = 0; oj < 12; ++oj)
        for (int oi = 0; oi < 14; ++oi)
          for (int ofm = 0; ofm < 16; ++ofm)
            output[img][ofm_tile][oj][oi][ofm] = output[img][ofm_tile][oj][oi][ofm] + bias[ofm_tile][ofm] > 0.0f
                                                     ? output[img][ofm_tile][oj][oi][ofm] + bias[ofm_tile][ofm]
                                                     : 0.0f;
  }
}
#undef conv_relu

/* for all processors */
void conv_relu(float output[2][2][12][14][16], const float filter[2][2][3][3][16][16],
               const float input[2][2][14][16][16], const float bias[2][16])
{
  if (polydl_fits()) {
    polydl_tuned_conv_relu(output, filter, input, bias);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int img = 0; img < 2; ++img)
    for (int ofm_tile = 0; ofm_tile < 2; ++ofm_tile)
      for (int oj = 0; oj < 12; ++oj)
        for (int oi = 0; oi < 14; ++oi)
          for (int ofm = 0; ofm < 16; ++ofm)
            output[img][ofm_tile][oj][oi][ofm] = 0.0f;
  for (int img = 0; img < 2; ++img)
    for (int ofm_tile = 0; ofm_tile < 2; ++ofm_tile)
      for (int ifm_tile = 0; ifm_tile < 2; ++ifm_tile)
        for (int oj = 0; oj < 12; ++oj)
          for (int kj = 0; kj < 3; ++kj)
            for (int ki = 0; ki < 3; ++ki)
              for (int oi = 0; oi < 14; ++oi)
                for (int ofm = 0; ofm < 16; ++ofm)
                  for (int ifm = 0; ifm < 16; ++ifm)
                    output[img][ofm_tile][oj][oi][ofm] +=
                        filter[ofm_tile][ifm_tile][kj][ki][ifm][ofm] * input[img][ifm_tile][oj + kj][oi + ki][ifm];
  for (int img = 0; img < 2; ++img)
    for (int ofm_tile = 0; ofm_tile < 2; ++ofm_tile)
      for (int oj = 0; oj < 12; ++oj)
        for (int oi = 0; oi < 14; ++oi)
          for (int ofm = 0; ofm < 16; ++ofm)
            output[img][ofm_tile][oj][oi][ofm] = output[img][ofm_tile][oj][oi][ofm] + bias[ofm_tile][ofm] > 0.0f
                                                     ? output[img][ofm_tile][oj][oi][ofm] + bias[ofm_tile][ofm]
                                                     : 0.0f;
#endif
}
void conv_relu_release(void);
void conv_relu_release(void)
{
  if (polydl_enter()) {
    polydl_drop();
    polydl_leave();
  }
}
const char *conv_relu_missing(void);
const char *conv_relu_missing(void)
{
  return polydl_missing();
}
/* for this one */
