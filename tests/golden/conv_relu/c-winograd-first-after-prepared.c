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
static inline int polydl_min(int a, int b) { return a < b ? a : b; }
/* team */
static struct polydl_team polydl_team;
enum { polydl_arrays = 3, polydl_reserved = 2 };
static const size_t polydl_sizes[polydl_arrays] = {110592, 110592, 147456};
/* kept memory */
static const long polydl_gemm3_offsets_a[2] = {0, 9216};
static const long polydl_gemm3_offsets_b[2] = {0, 6912};
typedef float polydl_gemm3_vector16 __attribute__((vector_size(64), aligned(sizeof(float)), may_alias));
static inline void polydl_gemm3_block0_1x8(const float *a, const float *b, float *c, long k, long count, int first)
{
  polydl_gemm3_vector16 c0_0 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 0);
  polydl_gemm3_vector16 c0_1 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 13824);
  polydl_gemm3_vector16 c0_2 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 16);
  polydl_gemm3_vector16 c0_3 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 13840);
  polydl_gemm3_vector16 c0_4 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 32);
  polydl_gemm3_vector16 c0_5 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 13856);
  polydl_gemm3_vector16 c0_6 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 48);
  polydl_gemm3_vector16 c0_7 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 13872);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm3_offsets_a[r];
    const float *br = b + polydl_gemm3_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 16 + 0);
      const polydl_gemm3_vector16 a0 = *(const polydl_gemm3_vector16 *)(ar + l * 16 + 0);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0;
      const float b1 = bl[13824]; c0_1 += a0 * b1;
      const float b2 = bl[16]; c0_2 += a0 * b2;
      const float b3 = bl[13840]; c0_3 += a0 * b3;
      const float b4 = bl[32]; c0_4 += a0 * b4;
      const float b5 = bl[13856]; c0_5 += a0 * b5;
      const float b6 = bl[48]; c0_6 += a0 * b6;
      const float b7 = bl[13872]; c0_7 += a0 * b7;
    }
  }
  *(polydl_gemm3_vector16 *)(c + 0) = c0_0;
  *(polydl_gemm3_vector16 *)(c + 13824) = c0_1;
  *(polydl_gemm3_vector16 *)(c + 16) = c0_2;
  *(polydl_gemm3_vector16 *)(c + 13840) = c0_3;
  *(polydl_gemm3_vector16 *)(c + 32) = c0_4;
  *(polydl_gemm3_vector16 *)(c + 13856) = c0_5;
  *(polydl_gemm3_vector16 *)(c + 48) = c0_6;
  *(polydl_gemm3_vector16 *)(c + 13872) = c0_7;
}
static void polydl_gemm3_run_000(const float *a, const float *b, float *c, long count, int first)
{
  polydl_gemm3_block0_1x8(a + 0, b + 0, c + 0 + 0, 16, count, first);
}
static void polydl_gemm3_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  (void)last_m;
  (void)last_n;
  (void)last_k;
  if (1)
    polydl_gemm3_run_000(a, b, c, count, first);
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
  const polydl_image_S1_vector_16 x4_0 = *(const polydl_image_S1_vector_16 *)(from + 4 * from0 + 0 * from1);
  const polydl_image_S1_vector_16 x5_0 = *(const polydl_image_S1_vector_16 *)(from + 5 * from0 + 0 * from1);
  const polydl_image_S1_vector_16 t0_0 = 1.265625f * x0_0 + x4_0 - 2.8125f * x2_0;
  const polydl_image_S1_vector_16 a0_e1 = x4_0 - 2.25f * x2_0;
  const polydl_image_S1_vector_16 a0_o1 = 0.75f * x3_0 - 1.6875f * x1_0;
  const polydl_image_S1_vector_16 t1_0 = a0_e1 + a0_o1;
  const polydl_image_S1_vector_16 t2_0 = a0_e1 - a0_o1;
  const polydl_image_S1_vector_16 a0_e3 = x4_0 - 0.5625f * x2_0;
  const polydl_image_S1_vector_16 a0_o3 = 1.5f * x3_0 - 0.84375f * x1_0;
  const polydl_image_S1_vector_16 t3_0 = a0_e3 + a0_o3;
  const polydl_image_S1_vector_16 t4_0 = a0_e3 - a0_o3;
  const polydl_image_S1_vector_16 t5_0 = 1.265625f * x1_0 + x5_0 - 2.8125f * x3_0;
  const polydl_image_S1_vector_16 x0_1 = *(const polydl_image_S1_vector_16 *)(from + 0 * from0 + 1 * from1);
  const polydl_image_S1_vector_16 x1_1 = *(const polydl_image_S1_vector_16 *)(from + 1 * from0 + 1 * from1);
  const polydl_image_S1_vector_16 x2_1 = *(const polydl_image_S1_vector_16 *)(from + 2 * from0 + 1 * from1);
  const polydl_image_S1_vector_16 x3_1 = *(const polydl_image_S1_vector_16 *)(from + 3 * from0 + 1 * from1);
  const polydl_image_S1_vector_16 x4_1 = *(const polydl_image_S1_vector_16 *)(from + 4 * from0 + 1 * from1);
  const polydl_image_S1_vector_16 x5_1 = *(const polydl_image_S1_vector_16 *)(from + 5 * from0 + 1 * from1);
  const polydl_image_S1_vector_16 t0_1 = 1.265625f * x0_1 + x4_1 - 2.8125f * x2_1;
  const polydl_image_S1_vector_16 a1_e1 = x4_1 - 2.25f * x2_1;
  const polydl_image_S1_vector_16 a1_o1 = 0.75f * x3_1 - 1.6875f * x1_1;
  const polydl_image_S1_vector_16 t1_1 = a1_e1 + a1_o1;
  const polydl_image_S1_vector_16 t2_1 = a1_e1 - a1_o1;
  const polydl_image_S1_vector_16 a1_e3 = x4_1 - 0.5625f * x2_1;
  const polydl_image_S1_vector_16 a1_o3 = 1.5f * x3_1 - 0.84375f * x1_1;
  const polydl_image_S1_vector_16 t3_1 = a1_e3 + a1_o3;
  const polydl_image_S1_vector_16 t4_1 = a1_e3 - a1_o3;
  const polydl_image_S1_vector_16 t5_1 = 1.265625f * x1_1 + x5_1 - 2.8125f * x3_1;
  const polydl_image_S1_vector_16 x0_2 = *(const polydl_image_S1_vector_16 *)(from + 0 * from0 + 2 * from1);
  const polydl_image_S1_vector_16 x1_2 = *(const polydl_image_S1_vector_16 *)(from + 1 * from0 + 2 * from1);
  const polydl_image_S1_vector_16 x2_2 = *(const polydl_image_S1_vector_16 *)(from + 2 * from0 + 2 * from1);
  const polydl_image_S1_vector_16 x3_2 = *(const polydl_image_S1_vector_16 *)(from + 3 * from0 + 2 * from1);
  const polydl_image_S1_vector_16 x4_2 = *(const polydl_image_S1_vector_16 *)(from + 4 * from0 + 2 * from1);
  const polydl_image_S1_vector_16 x5_2 = *(const polydl_image_S1_vector_16 *)(from + 5 * from0 + 2 * from1);
  const polydl_image_S1_vector_16 t0_2 = 1.265625f * x0_2 + x4_2 - 2.8125f * x2_2;
  const polydl_image_S1_vector_16 a2_e1 = x4_2 - 2.25f * x2_2;
  const polydl_image_S1_vector_16 a2_o1 = 0.75f * x3_2 - 1.6875f * x1_2;
  const polydl_image_S1_vector_16 t1_2 = a2_e1 + a2_o1;
  const polydl_image_S1_vector_16 t2_2 = a2_e1 - a2_o1;
  const polydl_image_S1_vector_16 a2_e3 = x4_2 - 0.5625f * x2_2;
  const polydl_image_S1_vector_16 a2_o3 = 1.5f * x3_2 - 0.84375f * x1_2;
  const polydl_image_S1_vector_16 t3_2 = a2_e3 + a2_o3;
  const polydl_image_S1_vector_16 t4_2 = a2_e3 - a2_o3;
  const polydl_image_S1_vector_16 t5_2 = 1.265625f * x1_2 + x5_2 - 2.8125f * x3_2;
  const polydl_image_S1_vector_16 x0_3 = *(const polydl_image_S1_vector_16 *)(from + 0 * from0 + 3 * from1);
  const polydl_image_S1_vector_16 x1_3 = *(const polydl_image_S1_vector_16 *)(from + 1 * from0 + 3 * from1);
  const polydl_image_S1_vector_16 x2_3 = *(const polydl_image_S1_vector_16 *)(from + 2 * from0 + 3 * from1);
  const polydl_image_S1_vector_16 x3_3 = *(const polydl_image_S1_vector_16 *)(from + 3 * from0 + 3 * from1);
  const polydl_image_S1_vector_16 x4_3 = *(const polydl_image_S1_vector_16 *)(from + 4 * from0 + 3 * from1);
  const polydl_image_S1_vector_16 x5_3 = *(const polydl_image_S1_vector_16 *)(from + 5 * from0 + 3 * from1);
  const polydl_image_S1_vector_16 t0_3 = 1.265625f * x0_3 + x4_3 - 2.8125f * x2_3;
  const polydl_image_S1_vector_16 a3_e1 = x4_3 - 2.25f * x2_3;
  const polydl_image_S1_vector_16 a3_o1 = 0.75f * x3_3 - 1.6875f * x1_3;
  const polydl_image_S1_vector_16 t1_3 = a3_e1 + a3_o1;
  const polydl_image_S1_vector_16 t2_3 = a3_e1 - a3_o1;
  const polydl_image_S1_vector_16 a3_e3 = x4_3 - 0.5625f * x2_3;
  const polydl_image_S1_vector_16 a3_o3 = 1.5f * x3_3 - 0.84375f * x1_3;
  const polydl_image_S1_vector_16 t3_3 = a3_e3 + a3_o3;
  const polydl_image_S1_vector_16 t4_3 = a3_e3 - a3_o3;
  const polydl_image_S1_vector_16 t5_3 = 1.265625f * x1_3 + x5_3 - 2.8125f * x3_3;
  const polydl_image_S1_vector_16 x0_4 = *(const polydl_image_S1_vector_16 *)(from + 0 * from0 + 4 * from1);
  const polydl_image_S1_vector_16 x1_4 = *(const polydl_image_S1_vector_16 *)(from + 1 * from0 + 4 * from1);
  const polydl_image_S1_vector_16 x2_4 = *(const polydl_image_S1_vector_16 *)(from + 2 * from0 + 4 * from1);
  const polydl_image_S1_vector_16 x3_4 = *(const polydl_image_S1_vector_16 *)(from + 3 * from0 + 4 * from1);
  const polydl_image_S1_vector_16 x4_4 = *(const polydl_image_S1_vector_16 *)(from + 4 * from0 + 4 * from1);
  const polydl_image_S1_vector_16 x5_4 = *(const polydl_image_S1_vector_16 *)(from + 5 * from0 + 4 * from1);
  const polydl_image_S1_vector_16 t0_4 = 1.265625f * x0_4 + x4_4 - 2.8125f * x2_4;
  const polydl_image_S1_vector_16 a4_e1 = x4_4 - 2.25f * x2_4;
  const polydl_image_S1_vector_16 a4_o1 = 0.75f * x3_4 - 1.6875f * x1_4;
  const polydl_image_S1_vector_16 t1_4 = a4_e1 + a4_o1;
  const polydl_image_S1_vector_16 t2_4 = a4_e1 - a4_o1;
  const polydl_image_S1_vector_16 a4_e3 = x4_4 - 0.5625f * x2_4;
  const polydl_image_S1_vector_16 a4_o3 = 1.5f * x3_4 - 0.84375f * x1_4;
  const polydl_image_S1_vector_16 t3_4 = a4_e3 + a4_o3;
  const polydl_image_S1_vector_16 t4_4 = a4_e3 - a4_o3;
  const polydl_image_S1_vector_16 t5_4 = 1.265625f * x1_4 + x5_4 - 2.8125f * x3_4;
  const polydl_image_S1_vector_16 x0_5 = *(const polydl_image_S1_vector_16 *)(from + 0 * from0 + 5 * from1);
  const polydl_image_S1_vector_16 x1_5 = *(const polydl_image_S1_vector_16 *)(from + 1 * from0 + 5 * from1);
  const polydl_image_S1_vector_16 x2_5 = *(const polydl_image_S1_vector_16 *)(from + 2 * from0 + 5 * from1);
  const polydl_image_S1_vector_16 x3_5 = *(const polydl_image_S1_vector_16 *)(from + 3 * from0 + 5 * from1);
  const polydl_image_S1_vector_16 x4_5 = *(const polydl_image_S1_vector_16 *)(from + 4 * from0 + 5 * from1);
  const polydl_image_S1_vector_16 x5_5 = *(const polydl_image_S1_vector_16 *)(from + 5 * from0 + 5 * from1);
  const polydl_image_S1_vector_16 t0_5 = 1.265625f * x0_5 + x4_5 - 2.8125f * x2_5;
  const polydl_image_S1_vector_16 a5_e1 = x4_5 - 2.25f * x2_5;
  const polydl_image_S1_vector_16 a5_o1 = 0.75f * x3_5 - 1.6875f * x1_5;
  const polydl_image_S1_vector_16 t1_5 = a5_e1 + a5_o1;
  const polydl_image_S1_vector_16 t2_5 = a5_e1 - a5_o1;
  const polydl_image_S1_vector_16 a5_e3 = x4_5 - 0.5625f * x2_5;
  const polydl_image_S1_vector_16 a5_o3 = 1.5f * x3_5 - 0.84375f * x1_5;
  const polydl_image_S1_vector_16 t3_5 = a5_e3 + a5_o3;
  const polydl_image_S1_vector_16 t4_5 = a5_e3 - a5_o3;
  const polydl_image_S1_vector_16 t5_5 = 1.265625f * x1_5 + x5_5 - 2.8125f * x3_5;
  const polydl_image_S1_vector_16 y0_0 = 1.265625f * t0_0 + t0_4 - 2.8125f * t0_2;
  const polydl_image_S1_vector_16 b0_e1 = t0_4 - 2.25f * t0_2;
  const polydl_image_S1_vector_16 b0_o1 = 0.75f * t0_3 - 1.6875f * t0_1;
  const polydl_image_S1_vector_16 y0_1 = b0_e1 + b0_o1;
  const polydl_image_S1_vector_16 y0_2 = b0_e1 - b0_o1;
  const polydl_image_S1_vector_16 b0_e3 = t0_4 - 0.5625f * t0_2;
  const polydl_image_S1_vector_16 b0_o3 = 1.5f * t0_3 - 0.84375f * t0_1;
  const polydl_image_S1_vector_16 y0_3 = b0_e3 + b0_o3;
  const polydl_image_S1_vector_16 y0_4 = b0_e3 - b0_o3;
  const polydl_image_S1_vector_16 y0_5 = 1.265625f * t0_1 + t0_5 - 2.8125f * t0_3;
  *(polydl_image_S1_vector_16 *)(to + 0 * to0 + 0 * to1) = y0_0;
  *(polydl_image_S1_vector_16 *)(to + 0 * to0 + 1 * to1) = y0_1;
  *(polydl_image_S1_vector_16 *)(to + 0 * to0 + 2 * to1) = y0_2;
  *(polydl_image_S1_vector_16 *)(to + 0 * to0 + 3 * to1) = y0_3;
  *(polydl_image_S1_vector_16 *)(to + 0 * to0 + 4 * to1) = y0_4;
  *(polydl_image_S1_vector_16 *)(to + 0 * to0 + 5 * to1) = y0_5;
  const polydl_image_S1_vector_16 y1_0 = 1.265625f * t1_0 + t1_4 - 2.8125f * t1_2;
  const polydl_image_S1_vector_16 b1_e1 = t1_4 - 2.25f * t1_2;
  const polydl_image_S1_vector_16 b1_o1 = 0.75f * t1_3 - 1.6875f * t1_1;
  const polydl_image_S1_vector_16 y1_1 = b1_e1 + b1_o1;
  const polydl_image_S1_vector_16 y1_2 = b1_e1 - b1_o1;
  const polydl_image_S1_vector_16 b1_e3 = t1_4 - 0.5625f * t1_2;
  const polydl_image_S1_vector_16 b1_o3 = 1.5f * t1_3 - 0.84375f * t1_1;
  const polydl_image_S1_vector_16 y1_3 = b1_e3 + b1_o3;
  const polydl_image_S1_vector_16 y1_4 = b1_e3 - b1_o3;
  const polydl_image_S1_vector_16 y1_5 = 1.265625f * t1_1 + t1_5 - 2.8125f * t1_3;
  *(polydl_image_S1_vector_16 *)(to + 1 * to0 + 0 * to1) = y1_0;
  *(polydl_image_S1_vector_16 *)(to + 1 * to0 + 1 * to1) = y1_1;
  *(polydl_image_S1_vector_16 *)(to + 1 * to0 + 2 * to1) = y1_2;
  *(polydl_image_S1_vector_16 *)(to + 1 * to0 + 3 * to1) = y1_3;
  *(polydl_image_S1_vector_16 *)(to + 1 * to0 + 4 * to1) = y1_4;
  *(polydl_image_S1_vector_16 *)(to + 1 * to0 + 5 * to1) = y1_5;
  const polydl_image_S1_vector_16 y2_0 = 1.265625f * t2_0 + t2_4 - 2.8125f * t2_2;
  const polydl_image_S1_vector_16 b2_e1 = t2_4 - 2.25f * t2_2;
  const polydl_image_S1_vector_16 b2_o1 = 0.75f * t2_3 - 1.6875f * t2_1;
  const polydl_image_S1_vector_16 y2_1 = b2_e1 + b2_o1;
  const polydl_image_S1_vector_16 y2_2 = b2_e1 - b2_o1;
  const polydl_image_S1_vector_16 b2_e3 = t2_4 - 0.5625f * t2_2;
  const polydl_image_S1_vector_16 b2_o3 = 1.5f * t2_3 - 0.84375f * t2_1;
  const polydl_image_S1_vector_16 y2_3 = b2_e3 + b2_o3;
  const polydl_image_S1_vector_16 y2_4 = b2_e3 - b2_o3;
  const polydl_image_S1_vector_16 y2_5 = 1.265625f * t2_1 + t2_5 - 2.8125f * t2_3;
  *(polydl_image_S1_vector_16 *)(to + 2 * to0 + 0 * to1) = y2_0;
  *(polydl_image_S1_vector_16 *)(to + 2 * to0 + 1 * to1) = y2_1;
  *(polydl_image_S1_vector_16 *)(to + 2 * to0 + 2 * to1) = y2_2;
  *(polydl_image_S1_vector_16 *)(to + 2 * to0 + 3 * to1) = y2_3;
  *(polydl_image_S1_vector_16 *)(to + 2 * to0 + 4 * to1) = y2_4;
  *(polydl_image_S1_vector_16 *)(to + 2 * to0 + 5 * to1) = y2_5;
  const polydl_image_S1_vector_16 y3_0 = 1.265625f * t3_0 + t3_4 - 2.8125f * t3_2;
  const polydl_image_S1_vector_16 b3_e1 = t3_4 - 2.25f * t3_2;
  const polydl_image_S1_vector_16 b3_o1 = 0.75f * t3_3 - 1.6875f * t3_1;
  const polydl_image_S1_vector_16 y3_1 = b3_e1 + b3_o1;
  const polydl_image_S1_vector_16 y3_2 = b3_e1 - b3_o1;
  const polydl_image_S1_vector_16 b3_e3 = t3_4 - 0.5625f * t3_2;
  const polydl_image_S1_vector_16 b3_o3 = 1.5f * t3_3 - 0.84375f * t3_1;
  const polydl_image_S1_vector_16 y3_3 = b3_e3 + b3_o3;
  const polydl_image_S1_vector_16 y3_4 = b3_e3 - b3_o3;
  const polydl_image_S1_vector_16 y3_5 = 1.265625f * t3_1 + t3_5 - 2.8125f * t3_3;
  *(polydl_image_S1_vector_16 *)(to + 3 * to0 + 0 * to1) = y3_0;
  *(polydl_image_S1_vector_16 *)(to + 3 * to0 + 1 * to1) = y3_1;
  *(polydl_image_S1_vector_16 *)(to + 3 * to0 + 2 * to1) = y3_2;
  *(polydl_image_S1_vector_16 *)(to + 3 * to0 + 3 * to1) = y3_3;
  *(polydl_image_S1_vector_16 *)(to + 3 * to0 + 4 * to1) = y3_4;
  *(polydl_image_S1_vector_16 *)(to + 3 * to0 + 5 * to1) = y3_5;
  const polydl_image_S1_vector_16 y4_0 = 1.265625f * t4_0 + t4_4 - 2.8125f * t4_2;
  const polydl_image_S1_vector_16 b4_e1 = t4_4 - 2.25f * t4_2;
  const polydl_image_S1_vector_16 b4_o1 = 0.75f * t4_3 - 1.6875f * t4_1;
  const polydl_image_S1_vector_16 y4_1 = b4_e1 + b4_o1;
  const polydl_image_S1_vector_16 y4_2 = b4_e1 - b4_o1;
  const polydl_image_S1_vector_16 b4_e3 = t4_4 - 0.5625f * t4_2;
  const polydl_image_S1_vector_16 b4_o3 = 1.5f * t4_3 - 0.84375f * t4_1;
  const polydl_image_S1_vector_16 y4_3 = b4_e3 + b4_o3;
  const polydl_image_S1_vector_16 y4_4 = b4_e3 - b4_o3;
  const polydl_image_S1_vector_16 y4_5 = 1.265625f * t4_1 + t4_5 - 2.8125f * t4_3;
  *(polydl_image_S1_vector_16 *)(to + 4 * to0 + 0 * to1) = y4_0;
  *(polydl_image_S1_vector_16 *)(to + 4 * to0 + 1 * to1) = y4_1;
  *(polydl_image_S1_vector_16 *)(to + 4 * to0 + 2 * to1) = y4_2;
  *(polydl_image_S1_vector_16 *)(to + 4 * to0 + 3 * to1) = y4_3;
  *(polydl_image_S1_vector_16 *)(to + 4 * to0 + 4 * to1) = y4_4;
  *(polydl_image_S1_vector_16 *)(to + 4 * to0 + 5 * to1) = y4_5;
  const polydl_image_S1_vector_16 y5_0 = 1.265625f * t5_0 + t5_4 - 2.8125f * t5_2;
  const polydl_image_S1_vector_16 b5_e1 = t5_4 - 2.25f * t5_2;
  const polydl_image_S1_vector_16 b5_o1 = 0.75f * t5_3 - 1.6875f * t5_1;
  const polydl_image_S1_vector_16 y5_1 = b5_e1 + b5_o1;
  const polydl_image_S1_vector_16 y5_2 = b5_e1 - b5_o1;
  const polydl_image_S1_vector_16 b5_e3 = t5_4 - 0.5625f * t5_2;
  const polydl_image_S1_vector_16 b5_o3 = 1.5f * t5_3 - 0.84375f * t5_1;
  const polydl_image_S1_vector_16 y5_3 = b5_e3 + b5_o3;
  const polydl_image_S1_vector_16 y5_4 = b5_e3 - b5_o3;
  const polydl_image_S1_vector_16 y5_5 = 1.265625f * t5_1 + t5_5 - 2.8125f * t5_3;
  *(polydl_image_S1_vector_16 *)(to + 5 * to0 + 0 * to1) = y5_0;
  *(polydl_image_S1_vector_16 *)(to + 5 * to0 + 1 * to1) = y5_1;
  *(polydl_image_S1_vector_16 *)(to + 5 * to0 + 2 * to1) = y5_2;
  *(polydl_image_S1_vector_16 *)(to + 5 * to0 + 3 * to1) = y5_3;
  *(polydl_image_S1_vector_16 *)(to + 5 * to0 + 4 * to1) = y5_4;
  *(polydl_image_S1_vector_16 *)(to + 5 * to0 + 5 * to1) = y5_5;
}
static void polydl_image_S1(const float *restrict from, float *restrict to, int left1)
{
  for (int lane = 0; lane < 16; lane += 16) {
    if (left1 >= 6)
      polydl_image_S1_by_16(from + lane, to + lane, 256, 16, 1152, 192);
    else {
      float edge[576] = {0};
      for (int at0 = 0; at0 < 6; ++at0)
      for (int at1 = 0; at1 < 6 && at1 < left1; ++at1)
        for (int i = 0; i < 16; ++i)
          edge[96 * at0 + 16 * at1 + i] = from[lane + 256L * at0 + 16L * at1 + i];
      polydl_image_S1_by_16(edge, to + lane, 96, 16, 1152, 192);
    }
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
  const polydl_filter_S1_vector_16 t0_0 = 0.7901234567901234f * x0_0;
  const polydl_filter_S1_vector_16 a0_e1 = -0.5267489711934157f * x0_0 - 0.2962962962962963f * x2_0;
  const polydl_filter_S1_vector_16 a0_o1 = -0.3950617283950617f * x1_0;
  const polydl_filter_S1_vector_16 t1_0 = a0_e1 + a0_o1;
  const polydl_filter_S1_vector_16 t2_0 = a0_e1 - a0_o1;
  const polydl_filter_S1_vector_16 a0_e3 = 0.13168724279835392f * x0_0 + 0.2962962962962963f * x2_0;
  const polydl_filter_S1_vector_16 a0_o3 = 0.19753086419753085f * x1_0;
  const polydl_filter_S1_vector_16 t3_0 = a0_e3 + a0_o3;
  const polydl_filter_S1_vector_16 t4_0 = a0_e3 - a0_o3;
  const polydl_filter_S1_vector_16 t5_0 = x2_0;
  const polydl_filter_S1_vector_16 x0_1 = *(const polydl_filter_S1_vector_16 *)(from + 0 * from0 + 1 * from1);
  const polydl_filter_S1_vector_16 x1_1 = *(const polydl_filter_S1_vector_16 *)(from + 1 * from0 + 1 * from1);
  const polydl_filter_S1_vector_16 x2_1 = *(const polydl_filter_S1_vector_16 *)(from + 2 * from0 + 1 * from1);
  const polydl_filter_S1_vector_16 t0_1 = 0.7901234567901234f * x0_1;
  const polydl_filter_S1_vector_16 a1_e1 = -0.5267489711934157f * x0_1 - 0.2962962962962963f * x2_1;
  const polydl_filter_S1_vector_16 a1_o1 = -0.3950617283950617f * x1_1;
  const polydl_filter_S1_vector_16 t1_1 = a1_e1 + a1_o1;
  const polydl_filter_S1_vector_16 t2_1 = a1_e1 - a1_o1;
  const polydl_filter_S1_vector_16 a1_e3 = 0.13168724279835392f * x0_1 + 0.2962962962962963f * x2_1;
  const polydl_filter_S1_vector_16 a1_o3 = 0.19753086419753085f * x1_1;
  const polydl_filter_S1_vector_16 t3_1 = a1_e3 + a1_o3;
  const polydl_filter_S1_vector_16 t4_1 = a1_e3 - a1_o3;
  const polydl_filter_S1_vector_16 t5_1 = x2_1;
  const polydl_filter_S1_vector_16 x0_2 = *(const polydl_filter_S1_vector_16 *)(from + 0 * from0 + 2 * from1);
  const polydl_filter_S1_vector_16 x1_2 = *(const polydl_filter_S1_vector_16 *)(from + 1 * from0 + 2 * from1);
  const polydl_filter_S1_vector_16 x2_2 = *(const polydl_filter_S1_vector_16 *)(from + 2 * from0 + 2 * from1);
  const polydl_filter_S1_vector_16 t0_2 = 0.7901234567901234f * x0_2;
  const polydl_filter_S1_vector_16 a2_e1 = -0.5267489711934157f * x0_2 - 0.2962962962962963f * x2_2;
  const polydl_filter_S1_vector_16 a2_o1 = -0.3950617283950617f * x1_2;
  const polydl_filter_S1_vector_16 t1_2 = a2_e1 + a2_o1;
  const polydl_filter_S1_vector_16 t2_2 = a2_e1 - a2_o1;
  const polydl_filter_S1_vector_16 a2_e3 = 0.13168724279835392f * x0_2 + 0.2962962962962963f * x2_2;
  const polydl_filter_S1_vector_16 a2_o3 = 0.19753086419753085f * x1_2;
  const polydl_filter_S1_vector_16 t3_2 = a2_e3 + a2_o3;
  const polydl_filter_S1_vector_16 t4_2 = a2_e3 - a2_o3;
  const polydl_filter_S1_vector_16 t5_2 = x2_2;
  const polydl_filter_S1_vector_16 y0_0 = 0.7901234567901234f * t0_0;
  const polydl_filter_S1_vector_16 b0_e1 = -0.5267489711934157f * t0_0 - 0.2962962962962963f * t0_2;
  const polydl_filter_S1_vector_16 b0_o1 = -0.3950617283950617f * t0_1;
  const polydl_filter_S1_vector_16 y0_1 = b0_e1 + b0_o1;
  const polydl_filter_S1_vector_16 y0_2 = b0_e1 - b0_o1;
  const polydl_filter_S1_vector_16 b0_e3 = 0.13168724279835392f * t0_0 + 0.2962962962962963f * t0_2;
  const polydl_filter_S1_vector_16 b0_o3 = 0.19753086419753085f * t0_1;
  const polydl_filter_S1_vector_16 y0_3 = b0_e3 + b0_o3;
  const polydl_filter_S1_vector_16 y0_4 = b0_e3 - b0_o3;
  const polydl_filter_S1_vector_16 y0_5 = t0_2;
  *(polydl_filter_S1_vector_16 *)(to + 0 * to0 + 0 * to1) = y0_0;
  *(polydl_filter_S1_vector_16 *)(to + 0 * to0 + 1 * to1) = y0_1;
  *(polydl_filter_S1_vector_16 *)(to + 0 * to0 + 2 * to1) = y0_2;
  *(polydl_filter_S1_vector_16 *)(to + 0 * to0 + 3 * to1) = y0_3;
  *(polydl_filter_S1_vector_16 *)(to + 0 * to0 + 4 * to1) = y0_4;
  *(polydl_filter_S1_vector_16 *)(to + 0 * to0 + 5 * to1) = y0_5;
  const polydl_filter_S1_vector_16 y1_0 = 0.7901234567901234f * t1_0;
  const polydl_filter_S1_vector_16 b1_e1 = -0.5267489711934157f * t1_0 - 0.2962962962962963f * t1_2;
  const polydl_filter_S1_vector_16 b1_o1 = -0.3950617283950617f * t1_1;
  const polydl_filter_S1_vector_16 y1_1 = b1_e1 + b1_o1;
  const polydl_filter_S1_vector_16 y1_2 = b1_e1 - b1_o1;
  const polydl_filter_S1_vector_16 b1_e3 = 0.13168724279835392f * t1_0 + 0.2962962962962963f * t1_2;
  const polydl_filter_S1_vector_16 b1_o3 = 0.19753086419753085f * t1_1;
  const polydl_filter_S1_vector_16 y1_3 = b1_e3 + b1_o3;
  const polydl_filter_S1_vector_16 y1_4 = b1_e3 - b1_o3;
  const polydl_filter_S1_vector_16 y1_5 = t1_2;
  *(polydl_filter_S1_vector_16 *)(to + 1 * to0 + 0 * to1) = y1_0;
  *(polydl_filter_S1_vector_16 *)(to + 1 * to0 + 1 * to1) = y1_1;
  *(polydl_filter_S1_vector_16 *)(to + 1 * to0 + 2 * to1) = y1_2;
  *(polydl_filter_S1_vector_16 *)(to + 1 * to0 + 3 * to1) = y1_3;
  *(polydl_filter_S1_vector_16 *)(to + 1 * to0 + 4 * to1) = y1_4;
  *(polydl_filter_S1_vector_16 *)(to + 1 * to0 + 5 * to1) = y1_5;
  const polydl_filter_S1_vector_16 y2_0 = 0.7901234567901234f * t2_0;
  const polydl_filter_S1_vector_16 b2_e1 = -0.5267489711934157f * t2_0 - 0.2962962962962963f * t2_2;
  const polydl_filter_S1_vector_16 b2_o1 = -0.3950617283950617f * t2_1;
  const polydl_filter_S1_vector_16 y2_1 = b2_e1 + b2_o1;
  const polydl_filter_S1_vector_16 y2_2 = b2_e1 - b2_o1;
  const polydl_filter_S1_vector_16 b2_e3 = 0.13168724279835392f * t2_0 + 0.2962962962962963f * t2_2;
  const polydl_filter_S1_vector_16 b2_o3 = 0.19753086419753085f * t2_1;
  const polydl_filter_S1_vector_16 y2_3 = b2_e3 + b2_o3;
  const polydl_filter_S1_vector_16 y2_4 = b2_e3 - b2_o3;
  const polydl_filter_S1_vector_16 y2_5 = t2_2;
  *(polydl_filter_S1_vector_16 *)(to + 2 * to0 + 0 * to1) = y2_0;
  *(polydl_filter_S1_vector_16 *)(to + 2 * to0 + 1 * to1) = y2_1;
  *(polydl_filter_S1_vector_16 *)(to + 2 * to0 + 2 * to1) = y2_2;
  *(polydl_filter_S1_vector_16 *)(to + 2 * to0 + 3 * to1) = y2_3;
  *(polydl_filter_S1_vector_16 *)(to + 2 * to0 + 4 * to1) = y2_4;
  *(polydl_filter_S1_vector_16 *)(to + 2 * to0 + 5 * to1) = y2_5;
  const polydl_filter_S1_vector_16 y3_0 = 0.7901234567901234f * t3_0;
  const polydl_filter_S1_vector_16 b3_e1 = -0.5267489711934157f * t3_0 - 0.2962962962962963f * t3_2;
  const polydl_filter_S1_vector_16 b3_o1 = -0.3950617283950617f * t3_1;
  const polydl_filter_S1_vector_16 y3_1 = b3_e1 + b3_o1;
  const polydl_filter_S1_vector_16 y3_2 = b3_e1 - b3_o1;
  const polydl_filter_S1_vector_16 b3_e3 = 0.13168724279835392f * t3_0 + 0.2962962962962963f * t3_2;
  const polydl_filter_S1_vector_16 b3_o3 = 0.19753086419753085f * t3_1;
  const polydl_filter_S1_vector_16 y3_3 = b3_e3 + b3_o3;
  const polydl_filter_S1_vector_16 y3_4 = b3_e3 - b3_o3;
  const polydl_filter_S1_vector_16 y3_5 = t3_2;
  *(polydl_filter_S1_vector_16 *)(to + 3 * to0 + 0 * to1) = y3_0;
  *(polydl_filter_S1_vector_16 *)(to + 3 * to0 + 1 * to1) = y3_1;
  *(polydl_filter_S1_vector_16 *)(to + 3 * to0 + 2 * to1) = y3_2;
  *(polydl_filter_S1_vector_16 *)(to + 3 * to0 + 3 * to1) = y3_3;
  *(polydl_filter_S1_vector_16 *)(to + 3 * to0 + 4 * to1) = y3_4;
  *(polydl_filter_S1_vector_16 *)(to + 3 * to0 + 5 * to1) = y3_5;
  const polydl_filter_S1_vector_16 y4_0 = 0.7901234567901234f * t4_0;
  const polydl_filter_S1_vector_16 b4_e1 = -0.5267489711934157f * t4_0 - 0.2962962962962963f * t4_2;
  const polydl_filter_S1_vector_16 b4_o1 = -0.3950617283950617f * t4_1;
  const polydl_filter_S1_vector_16 y4_1 = b4_e1 + b4_o1;
  const polydl_filter_S1_vector_16 y4_2 = b4_e1 - b4_o1;
  const polydl_filter_S1_vector_16 b4_e3 = 0.13168724279835392f * t4_0 + 0.2962962962962963f * t4_2;
  const polydl_filter_S1_vector_16 b4_o3 = 0.19753086419753085f * t4_1;
  const polydl_filter_S1_vector_16 y4_3 = b4_e3 + b4_o3;
  const polydl_filter_S1_vector_16 y4_4 = b4_e3 - b4_o3;
  const polydl_filter_S1_vector_16 y4_5 = t4_2;
  *(polydl_filter_S1_vector_16 *)(to + 4 * to0 + 0 * to1) = y4_0;
  *(polydl_filter_S1_vector_16 *)(to + 4 * to0 + 1 * to1) = y4_1;
  *(polydl_filter_S1_vector_16 *)(to + 4 * to0 + 2 * to1) = y4_2;
  *(polydl_filter_S1_vector_16 *)(to + 4 * to0 + 3 * to1) = y4_3;
  *(polydl_filter_S1_vector_16 *)(to + 4 * to0 + 4 * to1) = y4_4;
  *(polydl_filter_S1_vector_16 *)(to + 4 * to0 + 5 * to1) = y4_5;
  const polydl_filter_S1_vector_16 y5_0 = 0.7901234567901234f * t5_0;
  const polydl_filter_S1_vector_16 b5_e1 = -0.5267489711934157f * t5_0 - 0.2962962962962963f * t5_2;
  const polydl_filter_S1_vector_16 b5_o1 = -0.3950617283950617f * t5_1;
  const polydl_filter_S1_vector_16 y5_1 = b5_e1 + b5_o1;
  const polydl_filter_S1_vector_16 y5_2 = b5_e1 - b5_o1;
  const polydl_filter_S1_vector_16 b5_e3 = 0.13168724279835392f * t5_0 + 0.2962962962962963f * t5_2;
  const polydl_filter_S1_vector_16 b5_o3 = 0.19753086419753085f * t5_1;
  const polydl_filter_S1_vector_16 y5_3 = b5_e3 + b5_o3;
  const polydl_filter_S1_vector_16 y5_4 = b5_e3 - b5_o3;
  const polydl_filter_S1_vector_16 y5_5 = t5_2;
  *(polydl_filter_S1_vector_16 *)(to + 5 * to0 + 0 * to1) = y5_0;
  *(polydl_filter_S1_vector_16 *)(to + 5 * to0 + 1 * to1) = y5_1;
  *(polydl_filter_S1_vector_16 *)(to + 5 * to0 + 2 * to1) = y5_2;
  *(polydl_filter_S1_vector_16 *)(to + 5 * to0 + 3 * to1) = y5_3;
  *(polydl_filter_S1_vector_16 *)(to + 5 * to0 + 4 * to1) = y5_4;
  *(polydl_filter_S1_vector_16 *)(to + 5 * to0 + 5 * to1) = y5_5;
}
static void polydl_filter_S1(const float *restrict from, float *restrict to)
{
  for (int lane = 0; lane < 16; lane += 16) {
    polydl_filter_S1_by_16(from + lane, to + lane, 768, 256, 1536, 256);
  }
}
typedef float polydl_result_S1_vector_16
  __attribute__((vector_size(64), aligned(4), may_alias));
static inline __attribute__((always_inline)) void polydl_result_S1_by_16(
    const float *from, float *to, long from0, long from1, long to0, long to1, int left1)
{
  const polydl_result_S1_vector_16 x0_0 = *(const polydl_result_S1_vector_16 *)(from + 0 * from0 + 0 * from1);
  const polydl_result_S1_vector_16 x1_0 = *(const polydl_result_S1_vector_16 *)(from + 1 * from0 + 0 * from1);
  const polydl_result_S1_vector_16 x2_0 = *(const polydl_result_S1_vector_16 *)(from + 2 * from0 + 0 * from1);
  const polydl_result_S1_vector_16 x3_0 = *(const polydl_result_S1_vector_16 *)(from + 3 * from0 + 0 * from1);
  const polydl_result_S1_vector_16 x4_0 = *(const polydl_result_S1_vector_16 *)(from + 4 * from0 + 0 * from1);
  const polydl_result_S1_vector_16 x5_0 = *(const polydl_result_S1_vector_16 *)(from + 5 * from0 + 0 * from1);
  const polydl_result_S1_vector_16 a0_s1 = x1_0 + x2_0;
  const polydl_result_S1_vector_16 a0_d1 = x1_0 - x2_0;
  const polydl_result_S1_vector_16 a0_s3 = x3_0 + x4_0;
  const polydl_result_S1_vector_16 a0_d3 = x3_0 - x4_0;
  const polydl_result_S1_vector_16 t0_0 = x0_0 + a0_s1 + a0_s3;
  const polydl_result_S1_vector_16 t1_0 = 0.75f * a0_d1 + 1.5f * a0_d3;
  const polydl_result_S1_vector_16 t2_0 = 0.5625f * a0_s1 + 2.25f * a0_s3;
  const polydl_result_S1_vector_16 t3_0 = 0.421875f * a0_d1 + 3.375f * a0_d3 + x5_0;
  const polydl_result_S1_vector_16 x0_1 = *(const polydl_result_S1_vector_16 *)(from + 0 * from0 + 1 * from1);
  const polydl_result_S1_vector_16 x1_1 = *(const polydl_result_S1_vector_16 *)(from + 1 * from0 + 1 * from1);
  const polydl_result_S1_vector_16 x2_1 = *(const polydl_result_S1_vector_16 *)(from + 2 * from0 + 1 * from1);
  const polydl_result_S1_vector_16 x3_1 = *(const polydl_result_S1_vector_16 *)(from + 3 * from0 + 1 * from1);
  const polydl_result_S1_vector_16 x4_1 = *(const polydl_result_S1_vector_16 *)(from + 4 * from0 + 1 * from1);
  const polydl_result_S1_vector_16 x5_1 = *(const polydl_result_S1_vector_16 *)(from + 5 * from0 + 1 * from1);
  const polydl_result_S1_vector_16 a1_s1 = x1_1 + x2_1;
  const polydl_result_S1_vector_16 a1_d1 = x1_1 - x2_1;
  const polydl_result_S1_vector_16 a1_s3 = x3_1 + x4_1;
  const polydl_result_S1_vector_16 a1_d3 = x3_1 - x4_1;
  const polydl_result_S1_vector_16 t0_1 = x0_1 + a1_s1 + a1_s3;
  const polydl_result_S1_vector_16 t1_1 = 0.75f * a1_d1 + 1.5f * a1_d3;
  const polydl_result_S1_vector_16 t2_1 = 0.5625f * a1_s1 + 2.25f * a1_s3;
  const polydl_result_S1_vector_16 t3_1 = 0.421875f * a1_d1 + 3.375f * a1_d3 + x5_1;
  const polydl_result_S1_vector_16 x0_2 = *(const polydl_result_S1_vector_16 *)(from + 0 * from0 + 2 * from1);
  const polydl_result_S1_vector_16 x1_2 = *(const polydl_result_S1_vector_16 *)(from + 1 * from0 + 2 * from1);
  const polydl_result_S1_vector_16 x2_2 = *(const polydl_result_S1_vector_16 *)(from + 2 * from0 + 2 * from1);
  const polydl_result_S1_vector_16 x3_2 = *(const polydl_result_S1_vector_16 *)(from + 3 * from0 + 2 * from1);
  const polydl_result_S1_vector_16 x4_2 = *(const polydl_result_S1_vector_16 *)(from + 4 * from0 + 2 * from1);
  const polydl_result_S1_vector_16 x5_2 = *(const polydl_result_S1_vector_16 *)(from + 5 * from0 + 2 * from1);
  const polydl_result_S1_vector_16 a2_s1 = x1_2 + x2_2;
  const polydl_result_S1_vector_16 a2_d1 = x1_2 - x2_2;
  const polydl_result_S1_vector_16 a2_s3 = x3_2 + x4_2;
  const polydl_result_S1_vector_16 a2_d3 = x3_2 - x4_2;
  const polydl_result_S1_vector_16 t0_2 = x0_2 + a2_s1 + a2_s3;
  const polydl_result_S1_vector_16 t1_2 = 0.75f * a2_d1 + 1.5f * a2_d3;
  const polydl_result_S1_vector_16 t2_2 = 0.5625f * a2_s1 + 2.25f * a2_s3;
  const polydl_result_S1_vector_16 t3_2 = 0.421875f * a2_d1 + 3.375f * a2_d3 + x5_2;
  const polydl_result_S1_vector_16 x0_3 = *(const polydl_result_S1_vector_16 *)(from + 0 * from0 + 3 * from1);
  const polydl_result_S1_vector_16 x1_3 = *(const polydl_result_S1_vector_16 *)(from + 1 * from0 + 3 * from1);
  const polydl_result_S1_vector_16 x2_3 = *(const polydl_result_S1_vector_16 *)(from + 2 * from0 + 3 * from1);
  const polydl_result_S1_vector_16 x3_3 = *(const polydl_result_S1_vector_16 *)(from + 3 * from0 + 3 * from1);
  const polydl_result_S1_vector_16 x4_3 = *(const polydl_result_S1_vector_16 *)(from + 4 * from0 + 3 * from1);
  const polydl_result_S1_vector_16 x5_3 = *(const polydl_result_S1_vector_16 *)(from + 5 * from0 + 3 * from1);
  const polydl_result_S1_vector_16 a3_s1 = x1_3 + x2_3;
  const polydl_result_S1_vector_16 a3_d1 = x1_3 - x2_3;
  const polydl_result_S1_vector_16 a3_s3 = x3_3 + x4_3;
  const polydl_result_S1_vector_16 a3_d3 = x3_3 - x4_3;
  const polydl_result_S1_vector_16 t0_3 = x0_3 + a3_s1 + a3_s3;
  const polydl_result_S1_vector_16 t1_3 = 0.75f * a3_d1 + 1.5f * a3_d3;
  const polydl_result_S1_vector_16 t2_3 = 0.5625f * a3_s1 + 2.25f * a3_s3;
  const polydl_result_S1_vector_16 t3_3 = 0.421875f * a3_d1 + 3.375f * a3_d3 + x5_3;
  const polydl_result_S1_vector_16 x0_4 = *(const polydl_result_S1_vector_16 *)(from + 0 * from0 + 4 * from1);
  const polydl_result_S1_vector_16 x1_4 = *(const polydl_result_S1_vector_16 *)(from + 1 * from0 + 4 * from1);
  const polydl_result_S1_vector_16 x2_4 = *(const polydl_result_S1_vector_16 *)(from + 2 * from0 + 4 * from1);
  const polydl_result_S1_vector_16 x3_4 = *(const polydl_result_S1_vector_16 *)(from + 3 * from0 + 4 * from1);
  const polydl_result_S1_vector_16 x4_4 = *(const polydl_result_S1_vector_16 *)(from + 4 * from0 + 4 * from1);
  const polydl_result_S1_vector_16 x5_4 = *(const polydl_result_S1_vector_16 *)(from + 5 * from0 + 4 * from1);
  const polydl_result_S1_vector_16 a4_s1 = x1_4 + x2_4;
  const polydl_result_S1_vector_16 a4_d1 = x1_4 - x2_4;
  const polydl_result_S1_vector_16 a4_s3 = x3_4 + x4_4;
  const polydl_result_S1_vector_16 a4_d3 = x3_4 - x4_4;
  const polydl_result_S1_vector_16 t0_4 = x0_4 + a4_s1 + a4_s3;
  const polydl_result_S1_vector_16 t1_4 = 0.75f * a4_d1 + 1.5f * a4_d3;
  const polydl_result_S1_vector_16 t2_4 = 0.5625f * a4_s1 + 2.25f * a4_s3;
  const polydl_result_S1_vector_16 t3_4 = 0.421875f * a4_d1 + 3.375f * a4_d3 + x5_4;
  const polydl_result_S1_vector_16 x0_5 = *(const polydl_result_S1_vector_16 *)(from + 0 * from0 + 5 * from1);
  const polydl_result_S1_vector_16 x1_5 = *(const polydl_result_S1_vector_16 *)(from + 1 * from0 + 5 * from1);
  const polydl_result_S1_vector_16 x2_5 = *(const polydl_result_S1_vector_16 *)(from + 2 * from0 + 5 * from1);
  const polydl_result_S1_vector_16 x3_5 = *(const polydl_result_S1_vector_16 *)(from + 3 * from0 + 5 * from1);
  const polydl_result_S1_vector_16 x4_5 = *(const polydl_result_S1_vector_16 *)(from + 4 * from0 + 5 * from1);
  const polydl_result_S1_vector_16 x5_5 = *(const polydl_result_S1_vector_16 *)(from + 5 * from0 + 5 * from1);
  const polydl_result_S1_vector_16 a5_s1 = x1_5 + x2_5;
  const polydl_result_S1_vector_16 a5_d1 = x1_5 - x2_5;
  const polydl_result_S1_vector_16 a5_s3 = x3_5 + x4_5;
  const polydl_result_S1_vector_16 a5_d3 = x3_5 - x4_5;
  const polydl_result_S1_vector_16 t0_5 = x0_5 + a5_s1 + a5_s3;
  const polydl_result_S1_vector_16 t1_5 = 0.75f * a5_d1 + 1.5f * a5_d3;
  const polydl_result_S1_vector_16 t2_5 = 0.5625f * a5_s1 + 2.25f * a5_s3;
  const polydl_result_S1_vector_16 t3_5 = 0.421875f * a5_d1 + 3.375f * a5_d3 + x5_5;
  const polydl_result_S1_vector_16 b0_s1 = t0_1 + t0_2;
  const polydl_result_S1_vector_16 b0_d1 = t0_1 - t0_2;
  const polydl_result_S1_vector_16 b0_s3 = t0_3 + t0_4;
  const polydl_result_S1_vector_16 b0_d3 = t0_3 - t0_4;
  const polydl_result_S1_vector_16 y0_0 = t0_0 + b0_s1 + b0_s3;
  const polydl_result_S1_vector_16 y0_1 = 0.75f * b0_d1 + 1.5f * b0_d3;
  const polydl_result_S1_vector_16 y0_2 = 0.5625f * b0_s1 + 2.25f * b0_s3;
  const polydl_result_S1_vector_16 y0_3 = 0.421875f * b0_d1 + 3.375f * b0_d3 + t0_5;
  if (0 < left1) *(polydl_result_S1_vector_16 *)(to + 0 * to0 + 0 * to1) = y0_0;
  if (1 < left1) *(polydl_result_S1_vector_16 *)(to + 0 * to0 + 1 * to1) = y0_1;
  if (2 < left1) *(polydl_result_S1_vector_16 *)(to + 0 * to0 + 2 * to1) = y0_2;
  if (3 < left1) *(polydl_result_S1_vector_16 *)(to + 0 * to0 + 3 * to1) = y0_3;
  const polydl_result_S1_vector_16 b1_s1 = t1_1 + t1_2;
  const polydl_result_S1_vector_16 b1_d1 = t1_1 - t1_2;
  const polydl_result_S1_vector_16 b1_s3 = t1_3 + t1_4;
  const polydl_result_S1_vector_16 b1_d3 = t1_3 - t1_4;
  const polydl_result_S1_vector_16 y1_0 = t1_0 + b1_s1 + b1_s3;
  const polydl_result_S1_vector_16 y1_1 = 0.75f * b1_d1 + 1.5f * b1_d3;
  const polydl_result_S1_vector_16 y1_2 = 0.5625f * b1_s1 + 2.25f * b1_s3;
  const polydl_result_S1_vector_16 y1_3 = 0.421875f * b1_d1 + 3.375f * b1_d3 + t1_5;
  if (0 < left1) *(polydl_result_S1_vector_16 *)(to + 1 * to0 + 0 * to1) = y1_0;
  if (1 < left1) *(polydl_result_S1_vector_16 *)(to + 1 * to0 + 1 * to1) = y1_1;
  if (2 < left1) *(polydl_result_S1_vector_16 *)(to + 1 * to0 + 2 * to1) = y1_2;
  if (3 < left1) *(polydl_result_S1_vector_16 *)(to + 1 * to0 + 3 * to1) = y1_3;
  const polydl_result_S1_vector_16 b2_s1 = t2_1 + t2_2;
  const polydl_result_S1_vector_16 b2_d1 = t2_1 - t2_2;
  const polydl_result_S1_vector_16 b2_s3 = t2_3 + t2_4;
  const polydl_result_S1_vector_16 b2_d3 = t2_3 - t2_4;
  const polydl_result_S1_vector_16 y2_0 = t2_0 + b2_s1 + b2_s3;
  const polydl_result_S1_vector_16 y2_1 = 0.75f * b2_d1 + 1.5f * b2_d3;
  const polydl_result_S1_vector_16 y2_2 = 0.5625f * b2_s1 + 2.25f * b2_s3;
  const polydl_result_S1_vector_16 y2_3 = 0.421875f * b2_d1 + 3.375f * b2_d3 + t2_5;
  if (0 < left1) *(polydl_result_S1_vector_16 *)(to + 2 * to0 + 0 * to1) = y2_0;
  if (1 < left1) *(polydl_result_S1_vector_16 *)(to + 2 * to0 + 1 * to1) = y2_1;
  if (2 < left1) *(polydl_result_S1_vector_16 *)(to + 2 * to0 + 2 * to1) = y2_2;
  if (3 < left1) *(polydl_result_S1_vector_16 *)(to + 2 * to0 + 3 * to1) = y2_3;
  const polydl_result_S1_vector_16 b3_s1 = t3_1 + t3_2;
  const polydl_result_S1_vector_16 b3_d1 = t3_1 - t3_2;
  const polydl_result_S1_vector_16 b3_s3 = t3_3 + t3_4;
  const polydl_result_S1_vector_16 b3_d3 = t3_3 - t3_4;
  const polydl_result_S1_vector_16 y3_0 = t3_0 + b3_s1 + b3_s3;
  const polydl_result_S1_vector_16 y3_1 = 0.75f * b3_d1 + 1.5f * b3_d3;
  const polydl_result_S1_vector_16 y3_2 = 0.5625f * b3_s1 + 2.25f * b3_s3;
  const polydl_result_S1_vector_16 y3_3 = 0.421875f * b3_d1 + 3.375f * b3_d3 + t3_5;
  if (0 < left1) *(polydl_result_S1_vector_16 *)(to + 3 * to0 + 0 * to1) = y3_0;
  if (1 < left1) *(polydl_result_S1_vector_16 *)(to + 3 * to0 + 1 * to1) = y3_1;
  if (2 < left1) *(polydl_result_S1_vector_16 *)(to + 3 * to0 + 2 * to1) = y3_2;
  if (3 < left1) *(polydl_result_S1_vector_16 *)(to + 3 * to0 + 3 * to1) = y3_3;
}
static void polydl_result_S1(const float *restrict from, float *restrict to, int left1)
{
  for (int lane = 0; lane < 16; lane += 16) {
    if (left1 >= 4)
      polydl_result_S1_by_16(from + lane, to + lane, 1152, 192, 224, 16, 4);
    else
      polydl_result_S1_by_16(from + lane, to + lane, 1152, 192, 224, 16, left1);
  }
}

/* A 3x3 convolution blocked by 16 channels, from zero, with a bias and ReLU behind it. */
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void polydl_prepare_conv_relu(const float filter[2][2][3][3][16][16], const float bias[2][16], void *polydl_prepared)
{
  {
    float (*filter_points)[2][36][16][16] = (void *)((char *)polydl_prepared + 0);
    #pragma omp parallel for
    for (int ofm_tile = 0; ofm_tile <= 1; ++ofm_tile) {
      for (int ifm_tile = 0; ifm_tile <= 1; ++ifm_tile) {
        for (int ifm = 0; ifm <= 15; ++ifm) {
          polydl_filter_S1(&filter[ofm_tile][ifm_tile][0][0][ifm][0], &filter_points[ofm_tile][ifm_tile][0][ifm][0]);
        }
      }
    }
  }
}
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void polydl_run_conv_relu(float output[2][2][12][14][16], const float filter[2][2][3][3][16][16], const float input[2][2][14][16][16], const float bias[2][16], const void *polydl_prepared)
{
  if (polydl_reserve()) {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    float (*input_points)[2][36][12][16] = polydl_kept(0);
    float (*filter_points)[2][36][16][16] = (void *)((char *)polydl_prepared + 0);
    float (*output_points)[2][36][12][16] = polydl_kept(1);
    #pragma omp parallel for
    for (int img = 0; img <= 1; ++img) {
      for (int ifm_tile = 0; ifm_tile <= 1; ++ifm_tile) {
        for (int oj = 0; oj <= 2; ++oj) {
          for (int oi = 0; oi <= 3; ++oi) {
            polydl_image_S1(&input[img][ifm_tile][4 * oj][4 * oi][0], &input_points[img][ifm_tile][0][4 * oj + oi][0], 16 - 4 * oi);
          }
        }
      }
    }
    polydl_between();
    #pragma omp parallel for
    for (int point = 0; point <= 35; ++point) {
      for (int column_t2 = 0; column_t2 <= 1; ++column_t2) {
        for (int column_t1 = 2 * column_t2; column_t1 <= polydl_min(2, ((2 * column_t2) + 1)); ++column_t1) {
          for (int ofm_tile = 0; ofm_tile <= 1; ++ofm_tile) {
            polydl_gemm3_run(&filter_points[ofm_tile][0][point][0][0], &input_points[0][0][point][4 * column_t1][0], &output_points[0][ofm_tile][point][4 * column_t1][0], 0, 0, 0, 2, 1);
          }
        }
      }
    }
    polydl_between();
    #pragma omp parallel for
    for (int img = 0; img <= 1; ++img) {
      for (int ofm_tile = 0; ofm_tile <= 1; ++ofm_tile) {
        for (int oj = 0; oj <= 2; ++oj) {
          for (int oi = 0; oi <= 3; ++oi) {
            {
              polydl_result_S1(&output_points[img][ofm_tile][0][4 * oj + oi][0], &output[img][ofm_tile][4 * oj][4 * oi][0], 14 - 4 * oi);
              for (int polydl_pixel0 = 0; polydl_pixel0 < 4; ++polydl_pixel0) {
                for (int polydl_pixel1 = 0; (polydl_pixel1 < 4) && (polydl_pixel1 < 14 - 4 * oi); ++polydl_pixel1) {
                  #pragma omp simd
                  for (int polydl_lane = 0; polydl_lane < 16; ++polydl_lane)
                    output[img][ofm_tile][4 * oj + polydl_pixel0][4 * oi + polydl_pixel1][polydl_lane] = ((output[img][ofm_tile][4 * oj + polydl_pixel0][4 * oi + polydl_pixel1][polydl_lane] + bias[ofm_tile][polydl_lane]) > 0.0f) ? (output[img][ofm_tile][4 * oj + polydl_pixel0][4 * oi + polydl_pixel1][polydl_lane] + bias[ofm_tile][polydl_lane]) : 0.0f;
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

/* for all processors */
void conv_relu(float output[2][2][12][14][16], const float filter[2][2][3][3][16][16],
               const float input[2][2][14][16][16], const float bias[2][16])
{
  if (polydl_fits() && polydl_reserve()) {
    void *polydl_prepared = polydl_kept(2);
    if (polydl_prepared) {
      polydl_prepare_conv_relu(filter, bias, polydl_prepared);
      polydl_run_conv_relu(output, filter, input, bias, polydl_prepared);
      polydl_leave();
      return;
    }
    polydl_leave();
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
void conv_relu(float output[2][2][12][14][16], const float filter[2][2][3][3][16][16], const float input[2][2][14][16][16], const float bias[2][16]);
size_t conv_relu_prepared_bytes(void);
void conv_relu_prepare(const float filter[2][2][3][3][16][16], const float bias[2][16], void *polydl_prepared);
void conv_relu_run(float output[2][2][12][14][16], const float filter[2][2][3][3][16][16], const float input[2][2][14][16][16], const float bias[2][16], const void *polydl_prepared);
size_t conv_relu_prepared_bytes(void)
{
  return 147456;
}
void conv_relu_prepare(const float filter[2][2][3][3][16][16], const float bias[2][16], void *polydl_prepared)
{
  if (polydl_fits())
    polydl_prepare_conv_relu(filter, bias, polydl_prepared);
}
void conv_relu_run(float output[2][2][12][14][16], const float filter[2][2][3][3][16][16], const float input[2][2][14][16][16], const float bias[2][16], const void *polydl_prepared)
{
  if (polydl_fits()) {
    polydl_run_conv_relu(output, filter, input, bias, polydl_prepared);
    return;
  }
  conv_relu(output, filter, input, bias);
  return;
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
