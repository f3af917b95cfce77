#include <stddef.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#pragma GCC diagnostic ignored "-Wunused-variable"

/* processor */
enum { polydl_arrays = 3, polydl_reserved = 3 };
static const size_t polydl_sizes[polydl_arrays] = {20736, 73728, 41472};
/* kept memory */
static const long polydl_gemm3_offsets_a[1] = {0};
static const long polydl_gemm3_offsets_b[1] = {0};
typedef float polydl_gemm3_vector16 __attribute__((vector_size(64), aligned(sizeof(float)), may_alias));
static inline void polydl_gemm3_block0_2x9(const float *a, const float *b, float *c, long k, long count, int first)
{
  polydl_gemm3_vector16 c0_0 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 0);
  polydl_gemm3_vector16 c1_0 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 16);
  polydl_gemm3_vector16 c0_1 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 32);
  polydl_gemm3_vector16 c1_1 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 48);
  polydl_gemm3_vector16 c0_2 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 64);
  polydl_gemm3_vector16 c1_2 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 80);
  polydl_gemm3_vector16 c0_3 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 96);
  polydl_gemm3_vector16 c1_3 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 112);
  polydl_gemm3_vector16 c0_4 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 128);
  polydl_gemm3_vector16 c1_4 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 144);
  polydl_gemm3_vector16 c0_5 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 160);
  polydl_gemm3_vector16 c1_5 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 176);
  polydl_gemm3_vector16 c0_6 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 192);
  polydl_gemm3_vector16 c1_6 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 208);
  polydl_gemm3_vector16 c0_7 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 224);
  polydl_gemm3_vector16 c1_7 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 240);
  polydl_gemm3_vector16 c0_8 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 256);
  polydl_gemm3_vector16 c1_8 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 272);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm3_offsets_a[r];
    const float *br = b + polydl_gemm3_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 32 + 0);
      const polydl_gemm3_vector16 a0 = *(const polydl_gemm3_vector16 *)(ar + l * 32 + 0);
      __builtin_prefetch(ar + (l + 8) * 32 + 16);
      const polydl_gemm3_vector16 a1 = *(const polydl_gemm3_vector16 *)(ar + l * 32 + 16);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0;
      const float b1 = bl[16]; c0_1 += a0 * b1; c1_1 += a1 * b1;
      const float b2 = bl[32]; c0_2 += a0 * b2; c1_2 += a1 * b2;
      const float b3 = bl[48]; c0_3 += a0 * b3; c1_3 += a1 * b3;
      const float b4 = bl[64]; c0_4 += a0 * b4; c1_4 += a1 * b4;
      const float b5 = bl[80]; c0_5 += a0 * b5; c1_5 += a1 * b5;
      const float b6 = bl[96]; c0_6 += a0 * b6; c1_6 += a1 * b6;
      const float b7 = bl[112]; c0_7 += a0 * b7; c1_7 += a1 * b7;
      const float b8 = bl[128]; c0_8 += a0 * b8; c1_8 += a1 * b8;
    }
  }
  *(polydl_gemm3_vector16 *)(c + 0) = c0_0;
  *(polydl_gemm3_vector16 *)(c + 16) = c1_0;
  *(polydl_gemm3_vector16 *)(c + 32) = c0_1;
  *(polydl_gemm3_vector16 *)(c + 48) = c1_1;
  *(polydl_gemm3_vector16 *)(c + 64) = c0_2;
  *(polydl_gemm3_vector16 *)(c + 80) = c1_2;
  *(polydl_gemm3_vector16 *)(c + 96) = c0_3;
  *(polydl_gemm3_vector16 *)(c + 112) = c1_3;
  *(polydl_gemm3_vector16 *)(c + 128) = c0_4;
  *(polydl_gemm3_vector16 *)(c + 144) = c1_4;
  *(polydl_gemm3_vector16 *)(c + 160) = c0_5;
  *(polydl_gemm3_vector16 *)(c + 176) = c1_5;
  *(polydl_gemm3_vector16 *)(c + 192) = c0_6;
  *(polydl_gemm3_vector16 *)(c + 208) = c1_6;
  *(polydl_gemm3_vector16 *)(c + 224) = c0_7;
  *(polydl_gemm3_vector16 *)(c + 240) = c1_7;
  *(polydl_gemm3_vector16 *)(c + 256) = c0_8;
  *(polydl_gemm3_vector16 *)(c + 272) = c1_8;
}
static void polydl_gemm3_run_000(const float *a, const float *b, float *c, long count, int first)
{
  polydl_gemm3_block0_2x9(a + 0, b + 0, c + 0 + 0, 16, count, first);
}
static void polydl_gemm3_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  (void)last_m;
  (void)last_n;
  (void)last_k;
  if (1)
    polydl_gemm3_run_000(a, b, c, count, first);
}
typedef float polydl_image_S0_vector_16
  __attribute__((vector_size(64), aligned(4), may_alias));
static inline __attribute__((always_inline)) void polydl_image_S0_by_16(
    const float *from, float *to, long from0, long from1, long to0, long to1)
{
  const polydl_image_S0_vector_16 x0_0 = *(const polydl_image_S0_vector_16 *)(from + 0 * from0 + 0 * from1);
  const polydl_image_S0_vector_16 x1_0 = *(const polydl_image_S0_vector_16 *)(from + 1 * from0 + 0 * from1);
  const polydl_image_S0_vector_16 x2_0 = *(const polydl_image_S0_vector_16 *)(from + 2 * from0 + 0 * from1);
  const polydl_image_S0_vector_16 x3_0 = *(const polydl_image_S0_vector_16 *)(from + 3 * from0 + 0 * from1);
  const polydl_image_S0_vector_16 x4_0 = *(const polydl_image_S0_vector_16 *)(from + 4 * from0 + 0 * from1);
  const polydl_image_S0_vector_16 x5_0 = *(const polydl_image_S0_vector_16 *)(from + 5 * from0 + 0 * from1);
  const polydl_image_S0_vector_16 t0_0 = 1.265625f * x0_0 + x4_0 - 2.8125f * x2_0;
  const polydl_image_S0_vector_16 a0_e1 = x4_0 - 2.25f * x2_0;
  const polydl_image_S0_vector_16 a0_o1 = 0.75f * x3_0 - 1.6875f * x1_0;
  const polydl_image_S0_vector_16 t1_0 = a0_e1 + a0_o1;
  const polydl_image_S0_vector_16 t2_0 = a0_e1 - a0_o1;
  const polydl_image_S0_vector_16 a0_e3 = x4_0 - 0.5625f * x2_0;
  const polydl_image_S0_vector_16 a0_o3 = 1.5f * x3_0 - 0.84375f * x1_0;
  const polydl_image_S0_vector_16 t3_0 = a0_e3 + a0_o3;
  const polydl_image_S0_vector_16 t4_0 = a0_e3 - a0_o3;
  const polydl_image_S0_vector_16 t5_0 = 1.265625f * x1_0 + x5_0 - 2.8125f * x3_0;
  const polydl_image_S0_vector_16 x0_1 = *(const polydl_image_S0_vector_16 *)(from + 0 * from0 + 1 * from1);
  const polydl_image_S0_vector_16 x1_1 = *(const polydl_image_S0_vector_16 *)(from + 1 * from0 + 1 * from1);
  const polydl_image_S0_vector_16 x2_1 = *(const polydl_image_S0_vector_16 *)(from + 2 * from0 + 1 * from1);
  const polydl_image_S0_vector_16 x3_1 = *(const polydl_image_S0_vector_16 *)(from + 3 * from0 + 1 * from1);
  const polydl_image_S0_vector_16 x4_1 = *(const polydl_image_S0_vector_16 *)(from + 4 * from0 + 1 * from1);
  const polydl_image_S0_vector_16 x5_1 = *(const polydl_image_S0_vector_16 *)(from + 5 * from0 + 1 * from1);
  const polydl_image_S0_vector_16 t0_1 = 1.265625f * x0_1 + x4_1 - 2.8125f * x2_1;
  const polydl_image_S0_vector_16 a1_e1 = x4_1 - 2.25f * x2_1;
  const polydl_image_S0_vector_16 a1_o1 = 0.75f * x3_1 - 1.6875f * x1_1;
  const polydl_image_S0_vector_16 t1_1 = a1_e1 + a1_o1;
  const polydl_image_S0_vector_16 t2_1 = a1_e1 - a1_o1;
  const polydl_image_S0_vector_16 a1_e3 = x4_1 - 0.5625f * x2_1;
  const polydl_image_S0_vector_16 a1_o3 = 1.5f * x3_1 - 0.84375f * x1_1;
  const polydl_image_S0_vector_16 t3_1 = a1_e3 + a1_o3;
  const polydl_image_S0_vector_16 t4_1 = a1_e3 - a1_o3;
  const polydl_image_S0_vector_16 t5_1 = 1.265625f * x1_1 + x5_1 - 2.8125f * x3_1;
  const polydl_image_S0_vector_16 x0_2 = *(const polydl_image_S0_vector_16 *)(from + 0 * from0 + 2 * from1);
  const polydl_image_S0_vector_16 x1_2 = *(const polydl_image_S0_vector_16 *)(from + 1 * from0 + 2 * from1);
  const polydl_image_S0_vector_16 x2_2 = *(const polydl_image_S0_vector_16 *)(from + 2 * from0 + 2 * from1);
  const polydl_image_S0_vector_16 x3_2 = *(const polydl_image_S0_vector_16 *)(from + 3 * from0 + 2 * from1);
  const polydl_image_S0_vector_16 x4_2 = *(const polydl_image_S0_vector_16 *)(from + 4 * from0 + 2 * from1);
  const polydl_image_S0_vector_16 x5_2 = *(const polydl_image_S0_vector_16 *)(from + 5 * from0 + 2 * from1);
  const polydl_image_S0_vector_16 t0_2 = 1.265625f * x0_2 + x4_2 - 2.8125f * x2_2;
  const polydl_image_S0_vector_16 a2_e1 = x4_2 - 2.25f * x2_2;
  const polydl_image_S0_vector_16 a2_o1 = 0.75f * x3_2 - 1.6875f * x1_2;
  const polydl_image_S0_vector_16 t1_2 = a2_e1 + a2_o1;
  const polydl_image_S0_vector_16 t2_2 = a2_e1 - a2_o1;
  const polydl_image_S0_vector_16 a2_e3 = x4_2 - 0.5625f * x2_2;
  const polydl_image_S0_vector_16 a2_o3 = 1.5f * x3_2 - 0.84375f * x1_2;
  const polydl_image_S0_vector_16 t3_2 = a2_e3 + a2_o3;
  const polydl_image_S0_vector_16 t4_2 = a2_e3 - a2_o3;
  const polydl_image_S0_vector_16 t5_2 = 1.265625f * x1_2 + x5_2 - 2.8125f * x3_2;
  const polydl_image_S0_vector_16 x0_3 = *(const polydl_image_S0_vector_16 *)(from + 0 * from0 + 3 * from1);
  const polydl_image_S0_vector_16 x1_3 = *(const polydl_image_S0_vector_16 *)(from + 1 * from0 + 3 * from1);
  const polydl_image_S0_vector_16 x2_3 = *(const polydl_image_S0_vector_16 *)(from + 2 * from0 + 3 * from1);
  const polydl_image_S0_vector_16 x3_3 = *(const polydl_image_S0_vector_16 *)(from + 3 * from0 + 3 * from1);
  const polydl_image_S0_vector_16 x4_3 = *(const polydl_image_S0_vector_16 *)(from + 4 * from0 + 3 * from1);
  const polydl_image_S0_vector_16 x5_3 = *(const polydl_image_S0_vector_16 *)(from + 5 * from0 + 3 * from1);
  const polydl_image_S0_vector_16 t0_3 = 1.265625f * x0_3 + x4_3 - 2.8125f * x2_3;
  const polydl_image_S0_vector_16 a3_e1 = x4_3 - 2.25f * x2_3;
  const polydl_image_S0_vector_16 a3_o1 = 0.75f * x3_3 - 1.6875f * x1_3;
  const polydl_image_S0_vector_16 t1_3 = a3_e1 + a3_o1;
  const polydl_image_S0_vector_16 t2_3 = a3_e1 - a3_o1;
  const polydl_image_S0_vector_16 a3_e3 = x4_3 - 0.5625f * x2_3;
  const polydl_image_S0_vector_16 a3_o3 = 1.5f * x3_3 - 0.84375f * x1_3;
  const polydl_image_S0_vector_16 t3_3 = a3_e3 + a3_o3;
  const polydl_image_S0_vector_16 t4_3 = a3_e3 - a3_o3;
  const polydl_image_S0_vector_16 t5_3 = 1.265625f * x1_3 + x5_3 - 2.8125f * x3_3;
  const polydl_image_S0_vector_16 x0_4 = *(const polydl_image_S0_vector_16 *)(from + 0 * from0 + 4 * from1);
  const polydl_image_S0_vector_16 x1_4 = *(const polydl_image_S0_vector_16 *)(from + 1 * from0 + 4 * from1);
  const polydl_image_S0_vector_16 x2_4 = *(const polydl_image_S0_vector_16 *)(from + 2 * from0 + 4 * from1);
  const polydl_image_S0_vector_16 x3_4 = *(const polydl_image_S0_vector_16 *)(from + 3 * from0 + 4 * from1);
  const polydl_image_S0_vector_16 x4_4 = *(const polydl_image_S0_vector_16 *)(from + 4 * from0 + 4 * from1);
  const polydl_image_S0_vector_16 x5_4 = *(const polydl_image_S0_vector_16 *)(from + 5 * from0 + 4 * from1);
  const polydl_image_S0_vector_16 t0_4 = 1.265625f * x0_4 + x4_4 - 2.8125f * x2_4;
  const polydl_image_S0_vector_16 a4_e1 = x4_4 - 2.25f * x2_4;
  const polydl_image_S0_vector_16 a4_o1 = 0.75f * x3_4 - 1.6875f * x1_4;
  const polydl_image_S0_vector_16 t1_4 = a4_e1 + a4_o1;
  const polydl_image_S0_vector_16 t2_4 = a4_e1 - a4_o1;
  const polydl_image_S0_vector_16 a4_e3 = x4_4 - 0.5625f * x2_4;
  const polydl_image_S0_vector_16 a4_o3 = 1.5f * x3_4 - 0.84375f * x1_4;
  const polydl_image_S0_vector_16 t3_4 = a4_e3 + a4_o3;
  const polydl_image_S0_vector_16 t4_4 = a4_e3 - a4_o3;
  const polydl_image_S0_vector_16 t5_4 = 1.265625f * x1_4 + x5_4 - 2.8125f * x3_4;
  const polydl_image_S0_vector_16 x0_5 = *(const polydl_image_S0_vector_16 *)(from + 0 * from0 + 5 * from1);
  const polydl_image_S0_vector_16 x1_5 = *(const polydl_image_S0_vector_16 *)(from + 1 * from0 + 5 * from1);
  const polydl_image_S0_vector_16 x2_5 = *(const polydl_image_S0_vector_16 *)(from + 2 * from0 + 5 * from1);
  const polydl_image_S0_vector_16 x3_5 = *(const polydl_image_S0_vector_16 *)(from + 3 * from0 + 5 * from1);
  const polydl_image_S0_vector_16 x4_5 = *(const polydl_image_S0_vector_16 *)(from + 4 * from0 + 5 * from1);
  const polydl_image_S0_vector_16 x5_5 = *(const polydl_image_S0_vector_16 *)(from + 5 * from0 + 5 * from1);
  const polydl_image_S0_vector_16 t0_5 = 1.265625f * x0_5 + x4_5 - 2.8125f * x2_5;
  const polydl_image_S0_vector_16 a5_e1 = x4_5 - 2.25f * x2_5;
  const polydl_image_S0_vector_16 a5_o1 = 0.75f * x3_5 - 1.6875f * x1_5;
  const polydl_image_S0_vector_16 t1_5 = a5_e1 + a5_o1;
  const polydl_image_S0_vector_16 t2_5 = a5_e1 - a5_o1;
  const polydl_image_S0_vector_16 a5_e3 = x4_5 - 0.5625f * x2_5;
  const polydl_image_S0_vector_16 a5_o3 = 1.5f * x3_5 - 0.84375f * x1_5;
  const polydl_image_S0_vector_16 t3_5 = a5_e3 + a5_o3;
  const polydl_image_S0_vector_16 t4_5 = a5_e3 - a5_o3;
  const polydl_image_S0_vector_16 t5_5 = 1.265625f * x1_5 + x5_5 - 2.8125f * x3_5;
  const polydl_image_S0_vector_16 y0_0 = 1.265625f * t0_0 + t0_4 - 2.8125f * t0_2;
  const polydl_image_S0_vector_16 b0_e1 = t0_4 - 2.25f * t0_2;
  const polydl_image_S0_vector_16 b0_o1 = 0.75f * t0_3 - 1.6875f * t0_1;
  const polydl_image_S0_vector_16 y0_1 = b0_e1 + b0_o1;
  const polydl_image_S0_vector_16 y0_2 = b0_e1 - b0_o1;
  const polydl_image_S0_vector_16 b0_e3 = t0_4 - 0.5625f * t0_2;
  const polydl_image_S0_vector_16 b0_o3 = 1.5f * t0_3 - 0.84375f * t0_1;
  const polydl_image_S0_vector_16 y0_3 = b0_e3 + b0_o3;
  const polydl_image_S0_vector_16 y0_4 = b0_e3 - b0_o3;
  const polydl_image_S0_vector_16 y0_5 = 1.265625f * t0_1 + t0_5 - 2.8125f * t0_3;
  *(polydl_image_S0_vector_16 *)(to + 0 * to0 + 0 * to1) = y0_0;
  *(polydl_image_S0_vector_16 *)(to + 0 * to0 + 1 * to1) = y0_1;
  *(polydl_image_S0_vector_16 *)(to + 0 * to0 + 2 * to1) = y0_2;
  *(polydl_image_S0_vector_16 *)(to + 0 * to0 + 3 * to1) = y0_3;
  *(polydl_image_S0_vector_16 *)(to + 0 * to0 + 4 * to1) = y0_4;
  *(polydl_image_S0_vector_16 *)(to + 0 * to0 + 5 * to1) = y0_5;
  const polydl_image_S0_vector_16 y1_0 = 1.265625f * t1_0 + t1_4 - 2.8125f * t1_2;
  const polydl_image_S0_vector_16 b1_e1 = t1_4 - 2.25f * t1_2;
  const polydl_image_S0_vector_16 b1_o1 = 0.75f * t1_3 - 1.6875f * t1_1;
  const polydl_image_S0_vector_16 y1_1 = b1_e1 + b1_o1;
  const polydl_image_S0_vector_16 y1_2 = b1_e1 - b1_o1;
  const polydl_image_S0_vector_16 b1_e3 = t1_4 - 0.5625f * t1_2;
  const polydl_image_S0_vector_16 b1_o3 = 1.5f * t1_3 - 0.84375f * t1_1;
  const polydl_image_S0_vector_16 y1_3 = b1_e3 + b1_o3;
  const polydl_image_S0_vector_16 y1_4 = b1_e3 - b1_o3;
  const polydl_image_S0_vector_16 y1_5 = 1.265625f * t1_1 + t1_5 - 2.8125f * t1_3;
  *(polydl_image_S0_vector_16 *)(to + 1 * to0 + 0 * to1) = y1_0;
  *(polydl_image_S0_vector_16 *)(to + 1 * to0 + 1 * to1) = y1_1;
  *(polydl_image_S0_vector_16 *)(to + 1 * to0 + 2 * to1) = y1_2;
  *(polydl_image_S0_vector_16 *)(to + 1 * to0 + 3 * to1) = y1_3;
  *(polydl_image_S0_vector_16 *)(to + 1 * to0 + 4 * to1) = y1_4;
  *(polydl_image_S0_vector_16 *)(to + 1 * to0 + 5 * to1) = y1_5;
  const polydl_image_S0_vector_16 y2_0 = 1.265625f * t2_0 + t2_4 - 2.8125f * t2_2;
  const polydl_image_S0_vector_16 b2_e1 = t2_4 - 2.25f * t2_2;
  const polydl_image_S0_vector_16 b2_o1 = 0.75f * t2_3 - 1.6875f * t2_1;
  const polydl_image_S0_vector_16 y2_1 = b2_e1 + b2_o1;
  const polydl_image_S0_vector_16 y2_2 = b2_e1 - b2_o1;
  const polydl_image_S0_vector_16 b2_e3 = t2_4 - 0.5625f * t2_2;
  const polydl_image_S0_vector_16 b2_o3 = 1.5f * t2_3 - 0.84375f * t2_1;
  const polydl_image_S0_vector_16 y2_3 = b2_e3 + b2_o3;
  const polydl_image_S0_vector_16 y2_4 = b2_e3 - b2_o3;
  const polydl_image_S0_vector_16 y2_5 = 1.265625f * t2_1 + t2_5 - 2.8125f * t2_3;
  *(polydl_image_S0_vector_16 *)(to + 2 * to0 + 0 * to1) = y2_0;
  *(polydl_image_S0_vector_16 *)(to + 2 * to0 + 1 * to1) = y2_1;
  *(polydl_image_S0_vector_16 *)(to + 2 * to0 + 2 * to1) = y2_2;
  *(polydl_image_S0_vector_16 *)(to + 2 * to0 + 3 * to1) = y2_3;
  *(polydl_image_S0_vector_16 *)(to + 2 * to0 + 4 * to1) = y2_4;
  *(polydl_image_S0_vector_16 *)(to + 2 * to0 + 5 * to1) = y2_5;
  const polydl_image_S0_vector_16 y3_0 = 1.265625f * t3_0 + t3_4 - 2.8125f * t3_2;
  const polydl_image_S0_vector_16 b3_e1 = t3_4 - 2.25f * t3_2;
  const polydl_image_S0_vector_16 b3_o1 = 0.75f * t3_3 - 1.6875f * t3_1;
  const polydl_image_S0_vector_16 y3_1 = b3_e1 + b3_o1;
  const polydl_image_S0_vector_16 y3_2 = b3_e1 - b3_o1;
  const polydl_image_S0_vector_16 b3_e3 = t3_4 - 0.5625f * t3_2;
  const polydl_image_S0_vector_16 b3_o3 = 1.5f * t3_3 - 0.84375f * t3_1;
  const polydl_image_S0_vector_16 y3_3 = b3_e3 + b3_o3;
  const polydl_image_S0_vector_16 y3_4 = b3_e3 - b3_o3;
  const polydl_image_S0_vector_16 y3_5 = 1.265625f * t3_1 + t3_5 - 2.8125f * t3_3;
  *(polydl_image_S0_vector_16 *)(to + 3 * to0 + 0 * to1) = y3_0;
  *(polydl_image_S0_vector_16 *)(to + 3 * to0 + 1 * to1) = y3_1;
  *(polydl_image_S0_vector_16 *)(to + 3 * to0 + 2 * to1) = y3_2;
  *(polydl_image_S0_vector_16 *)(to + 3 * to0 + 3 * to1) = y3_3;
  *(polydl_image_S0_vector_16 *)(to + 3 * to0 + 4 * to1) = y3_4;
  *(polydl_image_S0_vector_16 *)(to + 3 * to0 + 5 * to1) = y3_5;
  const polydl_image_S0_vector_16 y4_0 = 1.265625f * t4_0 + t4_4 - 2.8125f * t4_2;
  const polydl_image_S0_vector_16 b4_e1 = t4_4 - 2.25f * t4_2;
  const polydl_image_S0_vector_16 b4_o1 = 0.75f * t4_3 - 1.6875f * t4_1;
  const polydl_image_S0_vector_16 y4_1 = b4_e1 + b4_o1;
  const polydl_image_S0_vector_16 y4_2 = b4_e1 - b4_o1;
  const polydl_image_S0_vector_16 b4_e3 = t4_4 - 0.5625f * t4_2;
  const polydl_image_S0_vector_16 b4_o3 = 1.5f * t4_3 - 0.84375f * t4_1;
  const polydl_image_S0_vector_16 y4_3 = b4_e3 + b4_o3;
  const polydl_image_S0_vector_16 y4_4 = b4_e3 - b4_o3;
  const polydl_image_S0_vector_16 y4_5 = 1.265625f * t4_1 + t4_5 - 2.8125f * t4_3;
  *(polydl_image_S0_vector_16 *)(to + 4 * to0 + 0 * to1) = y4_0;
  *(polydl_image_S0_vector_16 *)(to + 4 * to0 + 1 * to1) = y4_1;
  *(polydl_image_S0_vector_16 *)(to + 4 * to0 + 2 * to1) = y4_2;
  *(polydl_image_S0_vector_16 *)(to + 4 * to0 + 3 * to1) = y4_3;
  *(polydl_image_S0_vector_16 *)(to + 4 * to0 + 4 * to1) = y4_4;
  *(polydl_image_S0_vector_16 *)(to + 4 * to0 + 5 * to1) = y4_5;
  const polydl_image_S0_vector_16 y5_0 = 1.265625f * t5_0 + t5_4 - 2.8125f * t5_2;
  const polydl_image_S0_vector_16 b5_e1 = t5_4 - 2.25f * t5_2;
  const polydl_image_S0_vector_16 b5_o1 = 0.75f * t5_3 - 1.6875f * t5_1;
  const polydl_image_S0_vector_16 y5_1 = b5_e1 + b5_o1;
  const polydl_image_S0_vector_16 y5_2 = b5_e1 - b5_o1;
  const polydl_image_S0_vector_16 b5_e3 = t5_4 - 0.5625f * t5_2;
  const polydl_image_S0_vector_16 b5_o3 = 1.5f * t5_3 - 0.84375f * t5_1;
  const polydl_image_S0_vector_16 y5_3 = b5_e3 + b5_o3;
  const polydl_image_S0_vector_16 y5_4 = b5_e3 - b5_o3;
  const polydl_image_S0_vector_16 y5_5 = 1.265625f * t5_1 + t5_5 - 2.8125f * t5_3;
  *(polydl_image_S0_vector_16 *)(to + 5 * to0 + 0 * to1) = y5_0;
  *(polydl_image_S0_vector_16 *)(to + 5 * to0 + 1 * to1) = y5_1;
  *(polydl_image_S0_vector_16 *)(to + 5 * to0 + 2 * to1) = y5_2;
  *(polydl_image_S0_vector_16 *)(to + 5 * to0 + 3 * to1) = y5_3;
  *(polydl_image_S0_vector_16 *)(to + 5 * to0 + 4 * to1) = y5_4;
  *(polydl_image_S0_vector_16 *)(to + 5 * to0 + 5 * to1) = y5_5;
}
#ifndef polydl_shuffled
#if defined(__clang__) || __GNUC__ >= 12
#define polydl_shuffled(kind, one, two, ...) __builtin_shufflevector(one, two, __VA_ARGS__)
#else
#define polydl_shuffled(kind, one, two, ...) __builtin_shuffle(one, two, (kind){__VA_ARGS__})
#endif
#endif
static inline void polydl_image_S0_take_16(const float *from, float *strip, int length, int there)
{
  int x = 0;
  typedef int numbers __attribute__((vector_size(64), unused));
  for (; x + 16 <= there; x += 16) {
    polydl_image_S0_vector_16 r0 = *(const polydl_image_S0_vector_16 *)(from + x + 0 * 196L);
    polydl_image_S0_vector_16 r1 = *(const polydl_image_S0_vector_16 *)(from + x + 1 * 196L);
    polydl_image_S0_vector_16 r2 = *(const polydl_image_S0_vector_16 *)(from + x + 2 * 196L);
    polydl_image_S0_vector_16 r3 = *(const polydl_image_S0_vector_16 *)(from + x + 3 * 196L);
    polydl_image_S0_vector_16 r4 = *(const polydl_image_S0_vector_16 *)(from + x + 4 * 196L);
    polydl_image_S0_vector_16 r5 = *(const polydl_image_S0_vector_16 *)(from + x + 5 * 196L);
    polydl_image_S0_vector_16 r6 = *(const polydl_image_S0_vector_16 *)(from + x + 6 * 196L);
    polydl_image_S0_vector_16 r7 = *(const polydl_image_S0_vector_16 *)(from + x + 7 * 196L);
    polydl_image_S0_vector_16 r8 = *(const polydl_image_S0_vector_16 *)(from + x + 8 * 196L);
    polydl_image_S0_vector_16 r9 = *(const polydl_image_S0_vector_16 *)(from + x + 9 * 196L);
    polydl_image_S0_vector_16 r10 = *(const polydl_image_S0_vector_16 *)(from + x + 10 * 196L);
    polydl_image_S0_vector_16 r11 = *(const polydl_image_S0_vector_16 *)(from + x + 11 * 196L);
    polydl_image_S0_vector_16 r12 = *(const polydl_image_S0_vector_16 *)(from + x + 12 * 196L);
    polydl_image_S0_vector_16 r13 = *(const polydl_image_S0_vector_16 *)(from + x + 13 * 196L);
    polydl_image_S0_vector_16 r14 = *(const polydl_image_S0_vector_16 *)(from + x + 14 * 196L);
    polydl_image_S0_vector_16 r15 = *(const polydl_image_S0_vector_16 *)(from + x + 15 * 196L);
    { const polydl_image_S0_vector_16 a = r0, b = r8;
      r0 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r8 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_image_S0_vector_16 a = r1, b = r9;
      r1 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r9 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_image_S0_vector_16 a = r2, b = r10;
      r2 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r10 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_image_S0_vector_16 a = r3, b = r11;
      r3 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r11 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_image_S0_vector_16 a = r4, b = r12;
      r4 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r12 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_image_S0_vector_16 a = r5, b = r13;
      r5 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r13 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_image_S0_vector_16 a = r6, b = r14;
      r6 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r14 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_image_S0_vector_16 a = r7, b = r15;
      r7 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r15 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_image_S0_vector_16 a = r0, b = r4;
      r0 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r4 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_image_S0_vector_16 a = r1, b = r5;
      r1 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r5 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_image_S0_vector_16 a = r2, b = r6;
      r2 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r6 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_image_S0_vector_16 a = r3, b = r7;
      r3 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r7 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_image_S0_vector_16 a = r8, b = r12;
      r8 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r12 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_image_S0_vector_16 a = r9, b = r13;
      r9 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r13 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_image_S0_vector_16 a = r10, b = r14;
      r10 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r14 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_image_S0_vector_16 a = r11, b = r15;
      r11 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r15 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_image_S0_vector_16 a = r0, b = r2;
      r0 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r2 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_image_S0_vector_16 a = r1, b = r3;
      r1 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r3 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_image_S0_vector_16 a = r4, b = r6;
      r4 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r6 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_image_S0_vector_16 a = r5, b = r7;
      r5 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r7 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_image_S0_vector_16 a = r8, b = r10;
      r8 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r10 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_image_S0_vector_16 a = r9, b = r11;
      r9 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r11 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_image_S0_vector_16 a = r12, b = r14;
      r12 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r14 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_image_S0_vector_16 a = r13, b = r15;
      r13 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r15 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_image_S0_vector_16 a = r0, b = r1;
      r0 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r1 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_image_S0_vector_16 a = r2, b = r3;
      r2 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r3 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_image_S0_vector_16 a = r4, b = r5;
      r4 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r5 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_image_S0_vector_16 a = r6, b = r7;
      r6 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r7 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_image_S0_vector_16 a = r8, b = r9;
      r8 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r9 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_image_S0_vector_16 a = r10, b = r11;
      r10 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r11 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_image_S0_vector_16 a = r12, b = r13;
      r12 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r13 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_image_S0_vector_16 a = r14, b = r15;
      r14 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r15 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    *(polydl_image_S0_vector_16 *)(strip + (x + 0) * 16) = r0;
    *(polydl_image_S0_vector_16 *)(strip + (x + 1) * 16) = r1;
    *(polydl_image_S0_vector_16 *)(strip + (x + 2) * 16) = r2;
    *(polydl_image_S0_vector_16 *)(strip + (x + 3) * 16) = r3;
    *(polydl_image_S0_vector_16 *)(strip + (x + 4) * 16) = r4;
    *(polydl_image_S0_vector_16 *)(strip + (x + 5) * 16) = r5;
    *(polydl_image_S0_vector_16 *)(strip + (x + 6) * 16) = r6;
    *(polydl_image_S0_vector_16 *)(strip + (x + 7) * 16) = r7;
    *(polydl_image_S0_vector_16 *)(strip + (x + 8) * 16) = r8;
    *(polydl_image_S0_vector_16 *)(strip + (x + 9) * 16) = r9;
    *(polydl_image_S0_vector_16 *)(strip + (x + 10) * 16) = r10;
    *(polydl_image_S0_vector_16 *)(strip + (x + 11) * 16) = r11;
    *(polydl_image_S0_vector_16 *)(strip + (x + 12) * 16) = r12;
    *(polydl_image_S0_vector_16 *)(strip + (x + 13) * 16) = r13;
    *(polydl_image_S0_vector_16 *)(strip + (x + 14) * 16) = r14;
    *(polydl_image_S0_vector_16 *)(strip + (x + 15) * 16) = r15;
  }
  for (; x < there; ++x)
    for (int i = 0; i < 16; ++i)
      strip[x * 16 + i] = from[x + i * 196L];
  for (; x < length; ++x)
    for (int i = 0; i < 16; ++i)
      strip[x * 16 + i] = 0;
}
static void polydl_image_S0(const float *restrict from, float *restrict to)
{
  for (int lane = 0; lane < 16; lane += 16) {
    float strip[1344] __attribute__((aligned(64)));
    for (int tile = 0; tile < 3; tile += 3) {
      const int count = 3 - tile < 3 ? 3 - tile : 3;
      const int length = (count - 1) * 4 + 6;
      for (int at0 = 0; at0 < 6; ++at0)
        polydl_image_S0_take_16(from + lane * 196L + tile * 4L + at0 * 14L, strip + (1 * at0) * 224, length, length);
      for (int at = 0; at < count; ++at)
        polydl_image_S0_by_16(strip + at * 64, to + lane + (tile + at) * 16L, 224, 16, 864, 144);
    }
  }
}
typedef float polydl_filter_S0_vector_16
  __attribute__((vector_size(64), aligned(4), may_alias));
static inline __attribute__((always_inline)) void polydl_filter_S0_by_16(
    const float *from, float *to, long from0, long from1, long to0, long to1)
{
  const polydl_filter_S0_vector_16 x0_0 = *(const polydl_filter_S0_vector_16 *)(from + 0 * from0 + 0 * from1);
  const polydl_filter_S0_vector_16 x1_0 = *(const polydl_filter_S0_vector_16 *)(from + 1 * from0 + 0 * from1);
  const polydl_filter_S0_vector_16 x2_0 = *(const polydl_filter_S0_vector_16 *)(from + 2 * from0 + 0 * from1);
  const polydl_filter_S0_vector_16 t0_0 = 0.7901234567901234f * x0_0;
  const polydl_filter_S0_vector_16 a0_e1 = -0.5267489711934157f * x0_0 - 0.2962962962962963f * x2_0;
  const polydl_filter_S0_vector_16 a0_o1 = -0.3950617283950617f * x1_0;
  const polydl_filter_S0_vector_16 t1_0 = a0_e1 + a0_o1;
  const polydl_filter_S0_vector_16 t2_0 = a0_e1 - a0_o1;
  const polydl_filter_S0_vector_16 a0_e3 = 0.13168724279835392f * x0_0 + 0.2962962962962963f * x2_0;
  const polydl_filter_S0_vector_16 a0_o3 = 0.19753086419753085f * x1_0;
  const polydl_filter_S0_vector_16 t3_0 = a0_e3 + a0_o3;
  const polydl_filter_S0_vector_16 t4_0 = a0_e3 - a0_o3;
  const polydl_filter_S0_vector_16 t5_0 = x2_0;
  const polydl_filter_S0_vector_16 x0_1 = *(const polydl_filter_S0_vector_16 *)(from + 0 * from0 + 1 * from1);
  const polydl_filter_S0_vector_16 x1_1 = *(const polydl_filter_S0_vector_16 *)(from + 1 * from0 + 1 * from1);
  const polydl_filter_S0_vector_16 x2_1 = *(const polydl_filter_S0_vector_16 *)(from + 2 * from0 + 1 * from1);
  const polydl_filter_S0_vector_16 t0_1 = 0.7901234567901234f * x0_1;
  const polydl_filter_S0_vector_16 a1_e1 = -0.5267489711934157f * x0_1 - 0.2962962962962963f * x2_1;
  const polydl_filter_S0_vector_16 a1_o1 = -0.3950617283950617f * x1_1;
  const polydl_filter_S0_vector_16 t1_1 = a1_e1 + a1_o1;
  const polydl_filter_S0_vector_16 t2_1 = a1_e1 - a1_o1;
  const polydl_filter_S0_vector_16 a1_e3 = 0.13168724279835392f * x0_1 + 0.2962962962962963f * x2_1;
  const polydl_filter_S0_vector_16 a1_o3 = 0.19753086419753085f * x1_1;
  const polydl_filter_S0_vector_16 t3_1 = a1_e3 + a1_o3;
  const polydl_filter_S0_vector_16 t4_1 = a1_e3 - a1_o3;
  const polydl_filter_S0_vector_16 t5_1 = x2_1;
  const polydl_filter_S0_vector_16 x0_2 = *(const polydl_filter_S0_vector_16 *)(from + 0 * from0 + 2 * from1);
  const polydl_filter_S0_vector_16 x1_2 = *(const polydl_filter_S0_vector_16 *)(from + 1 * from0 + 2 * from1);
  const polydl_filter_S0_vector_16 x2_2 = *(const polydl_filter_S0_vector_16 *)(from + 2 * from0 + 2 * from1);
  const polydl_filter_S0_vector_16 t0_2 = 0.7901234567901234f * x0_2;
  const polydl_filter_S0_vector_16 a2_e1 = -0.5267489711934157f * x0_2 - 0.2962962962962963f * x2_2;
  const polydl_filter_S0_vector_16 a2_o1 = -0.3950617283950617f * x1_2;
  const polydl_filter_S0_vector_16 t1_2 = a2_e1 + a2_o1;
  const polydl_filter_S0_vector_16 t2_2 = a2_e1 - a2_o1;
  const polydl_filter_S0_vector_16 a2_e3 = 0.13168724279835392f * x0_2 + 0.2962962962962963f * x2_2;
  const polydl_filter_S0_vector_16 a2_o3 = 0.19753086419753085f * x1_2;
  const polydl_filter_S0_vector_16 t3_2 = a2_e3 + a2_o3;
  const polydl_filter_S0_vector_16 t4_2 = a2_e3 - a2_o3;
  const polydl_filter_S0_vector_16 t5_2 = x2_2;
  const polydl_filter_S0_vector_16 y0_0 = 0.7901234567901234f * t0_0;
  const polydl_filter_S0_vector_16 b0_e1 = -0.5267489711934157f * t0_0 - 0.2962962962962963f * t0_2;
  const polydl_filter_S0_vector_16 b0_o1 = -0.3950617283950617f * t0_1;
  const polydl_filter_S0_vector_16 y0_1 = b0_e1 + b0_o1;
  const polydl_filter_S0_vector_16 y0_2 = b0_e1 - b0_o1;
  const polydl_filter_S0_vector_16 b0_e3 = 0.13168724279835392f * t0_0 + 0.2962962962962963f * t0_2;
  const polydl_filter_S0_vector_16 b0_o3 = 0.19753086419753085f * t0_1;
  const polydl_filter_S0_vector_16 y0_3 = b0_e3 + b0_o3;
  const polydl_filter_S0_vector_16 y0_4 = b0_e3 - b0_o3;
  const polydl_filter_S0_vector_16 y0_5 = t0_2;
  *(polydl_filter_S0_vector_16 *)(to + 0 * to0 + 0 * to1) = y0_0;
  *(polydl_filter_S0_vector_16 *)(to + 0 * to0 + 1 * to1) = y0_1;
  *(polydl_filter_S0_vector_16 *)(to + 0 * to0 + 2 * to1) = y0_2;
  *(polydl_filter_S0_vector_16 *)(to + 0 * to0 + 3 * to1) = y0_3;
  *(polydl_filter_S0_vector_16 *)(to + 0 * to0 + 4 * to1) = y0_4;
  *(polydl_filter_S0_vector_16 *)(to + 0 * to0 + 5 * to1) = y0_5;
  const polydl_filter_S0_vector_16 y1_0 = 0.7901234567901234f * t1_0;
  const polydl_filter_S0_vector_16 b1_e1 = -0.5267489711934157f * t1_0 - 0.2962962962962963f * t1_2;
  const polydl_filter_S0_vector_16 b1_o1 = -0.3950617283950617f * t1_1;
  const polydl_filter_S0_vector_16 y1_1 = b1_e1 + b1_o1;
  const polydl_filter_S0_vector_16 y1_2 = b1_e1 - b1_o1;
  const polydl_filter_S0_vector_16 b1_e3 = 0.13168724279835392f * t1_0 + 0.2962962962962963f * t1_2;
  const polydl_filter_S0_vector_16 b1_o3 = 0.19753086419753085f * t1_1;
  const polydl_filter_S0_vector_16 y1_3 = b1_e3 + b1_o3;
  const polydl_filter_S0_vector_16 y1_4 = b1_e3 - b1_o3;
  const polydl_filter_S0_vector_16 y1_5 = t1_2;
  *(polydl_filter_S0_vector_16 *)(to + 1 * to0 + 0 * to1) = y1_0;
  *(polydl_filter_S0_vector_16 *)(to + 1 * to0 + 1 * to1) = y1_1;
  *(polydl_filter_S0_vector_16 *)(to + 1 * to0 + 2 * to1) = y1_2;
  *(polydl_filter_S0_vector_16 *)(to + 1 * to0 + 3 * to1) = y1_3;
  *(polydl_filter_S0_vector_16 *)(to + 1 * to0 + 4 * to1) = y1_4;
  *(polydl_filter_S0_vector_16 *)(to + 1 * to0 + 5 * to1) = y1_5;
  const polydl_filter_S0_vector_16 y2_0 = 0.7901234567901234f * t2_0;
  const polydl_filter_S0_vector_16 b2_e1 = -0.5267489711934157f * t2_0 - 0.2962962962962963f * t2_2;
  const polydl_filter_S0_vector_16 b2_o1 = -0.3950617283950617f * t2_1;
  const polydl_filter_S0_vector_16 y2_1 = b2_e1 + b2_o1;
  const polydl_filter_S0_vector_16 y2_2 = b2_e1 - b2_o1;
  const polydl_filter_S0_vector_16 b2_e3 = 0.13168724279835392f * t2_0 + 0.2962962962962963f * t2_2;
  const polydl_filter_S0_vector_16 b2_o3 = 0.19753086419753085f * t2_1;
  const polydl_filter_S0_vector_16 y2_3 = b2_e3 + b2_o3;
  const polydl_filter_S0_vector_16 y2_4 = b2_e3 - b2_o3;
  const polydl_filter_S0_vector_16 y2_5 = t2_2;
  *(polydl_filter_S0_vector_16 *)(to + 2 * to0 + 0 * to1) = y2_0;
  *(polydl_filter_S0_vector_16 *)(to + 2 * to0 + 1 * to1) = y2_1;
  *(polydl_filter_S0_vector_16 *)(to + 2 * to0 + 2 * to1) = y2_2;
  *(polydl_filter_S0_vector_16 *)(to + 2 * to0 + 3 * to1) = y2_3;
  *(polydl_filter_S0_vector_16 *)(to + 2 * to0 + 4 * to1) = y2_4;
  *(polydl_filter_S0_vector_16 *)(to + 2 * to0 + 5 * to1) = y2_5;
  const polydl_filter_S0_vector_16 y3_0 = 0.7901234567901234f * t3_0;
  const polydl_filter_S0_vector_16 b3_e1 = -0.5267489711934157f * t3_0 - 0.2962962962962963f * t3_2;
  const polydl_filter_S0_vector_16 b3_o1 = -0.3950617283950617f * t3_1;
  const polydl_filter_S0_vector_16 y3_1 = b3_e1 + b3_o1;
  const polydl_filter_S0_vector_16 y3_2 = b3_e1 - b3_o1;
  const polydl_filter_S0_vector_16 b3_e3 = 0.13168724279835392f * t3_0 + 0.2962962962962963f * t3_2;
  const polydl_filter_S0_vector_16 b3_o3 = 0.19753086419753085f * t3_1;
  const polydl_filter_S0_vector_16 y3_3 = b3_e3 + b3_o3;
  const polydl_filter_S0_vector_16 y3_4 = b3_e3 - b3_o3;
  const polydl_filter_S0_vector_16 y3_5 = t3_2;
  *(polydl_filter_S0_vector_16 *)(to + 3 * to0 + 0 * to1) = y3_0;
  *(polydl_filter_S0_vector_16 *)(to + 3 * to0 + 1 * to1) = y3_1;
  *(polydl_filter_S0_vector_16 *)(to + 3 * to0 + 2 * to1) = y3_2;
  *(polydl_filter_S0_vector_16 *)(to + 3 * to0 + 3 * to1) = y3_3;
  *(polydl_filter_S0_vector_16 *)(to + 3 * to0 + 4 * to1) = y3_4;
  *(polydl_filter_S0_vector_16 *)(to + 3 * to0 + 5 * to1) = y3_5;
  const polydl_filter_S0_vector_16 y4_0 = 0.7901234567901234f * t4_0;
  const polydl_filter_S0_vector_16 b4_e1 = -0.5267489711934157f * t4_0 - 0.2962962962962963f * t4_2;
  const polydl_filter_S0_vector_16 b4_o1 = -0.3950617283950617f * t4_1;
  const polydl_filter_S0_vector_16 y4_1 = b4_e1 + b4_o1;
  const polydl_filter_S0_vector_16 y4_2 = b4_e1 - b4_o1;
  const polydl_filter_S0_vector_16 b4_e3 = 0.13168724279835392f * t4_0 + 0.2962962962962963f * t4_2;
  const polydl_filter_S0_vector_16 b4_o3 = 0.19753086419753085f * t4_1;
  const polydl_filter_S0_vector_16 y4_3 = b4_e3 + b4_o3;
  const polydl_filter_S0_vector_16 y4_4 = b4_e3 - b4_o3;
  const polydl_filter_S0_vector_16 y4_5 = t4_2;
  *(polydl_filter_S0_vector_16 *)(to + 4 * to0 + 0 * to1) = y4_0;
  *(polydl_filter_S0_vector_16 *)(to + 4 * to0 + 1 * to1) = y4_1;
  *(polydl_filter_S0_vector_16 *)(to + 4 * to0 + 2 * to1) = y4_2;
  *(polydl_filter_S0_vector_16 *)(to + 4 * to0 + 3 * to1) = y4_3;
  *(polydl_filter_S0_vector_16 *)(to + 4 * to0 + 4 * to1) = y4_4;
  *(polydl_filter_S0_vector_16 *)(to + 4 * to0 + 5 * to1) = y4_5;
  const polydl_filter_S0_vector_16 y5_0 = 0.7901234567901234f * t5_0;
  const polydl_filter_S0_vector_16 b5_e1 = -0.5267489711934157f * t5_0 - 0.2962962962962963f * t5_2;
  const polydl_filter_S0_vector_16 b5_o1 = -0.3950617283950617f * t5_1;
  const polydl_filter_S0_vector_16 y5_1 = b5_e1 + b5_o1;
  const polydl_filter_S0_vector_16 y5_2 = b5_e1 - b5_o1;
  const polydl_filter_S0_vector_16 b5_e3 = 0.13168724279835392f * t5_0 + 0.2962962962962963f * t5_2;
  const polydl_filter_S0_vector_16 b5_o3 = 0.19753086419753085f * t5_1;
  const polydl_filter_S0_vector_16 y5_3 = b5_e3 + b5_o3;
  const polydl_filter_S0_vector_16 y5_4 = b5_e3 - b5_o3;
  const polydl_filter_S0_vector_16 y5_5 = t5_2;
  *(polydl_filter_S0_vector_16 *)(to + 5 * to0 + 0 * to1) = y5_0;
  *(polydl_filter_S0_vector_16 *)(to + 5 * to0 + 1 * to1) = y5_1;
  *(polydl_filter_S0_vector_16 *)(to + 5 * to0 + 2 * to1) = y5_2;
  *(polydl_filter_S0_vector_16 *)(to + 5 * to0 + 3 * to1) = y5_3;
  *(polydl_filter_S0_vector_16 *)(to + 5 * to0 + 4 * to1) = y5_4;
  *(polydl_filter_S0_vector_16 *)(to + 5 * to0 + 5 * to1) = y5_5;
}
#ifndef polydl_shuffled
#if defined(__clang__) || __GNUC__ >= 12
#define polydl_shuffled(kind, one, two, ...) __builtin_shufflevector(one, two, __VA_ARGS__)
#else
#define polydl_shuffled(kind, one, two, ...) __builtin_shuffle(one, two, (kind){__VA_ARGS__})
#endif
#endif
static inline void polydl_filter_S0_take_16(const float *from, float *strip, int length, int there)
{
  int x = 0;
  typedef int numbers __attribute__((vector_size(64), unused));
  for (; x + 16 <= there; x += 16) {
    polydl_filter_S0_vector_16 r0 = *(const polydl_filter_S0_vector_16 *)(from + x + 0 * 144L);
    polydl_filter_S0_vector_16 r1 = *(const polydl_filter_S0_vector_16 *)(from + x + 1 * 144L);
    polydl_filter_S0_vector_16 r2 = *(const polydl_filter_S0_vector_16 *)(from + x + 2 * 144L);
    polydl_filter_S0_vector_16 r3 = *(const polydl_filter_S0_vector_16 *)(from + x + 3 * 144L);
    polydl_filter_S0_vector_16 r4 = *(const polydl_filter_S0_vector_16 *)(from + x + 4 * 144L);
    polydl_filter_S0_vector_16 r5 = *(const polydl_filter_S0_vector_16 *)(from + x + 5 * 144L);
    polydl_filter_S0_vector_16 r6 = *(const polydl_filter_S0_vector_16 *)(from + x + 6 * 144L);
    polydl_filter_S0_vector_16 r7 = *(const polydl_filter_S0_vector_16 *)(from + x + 7 * 144L);
    polydl_filter_S0_vector_16 r8 = *(const polydl_filter_S0_vector_16 *)(from + x + 8 * 144L);
    polydl_filter_S0_vector_16 r9 = *(const polydl_filter_S0_vector_16 *)(from + x + 9 * 144L);
    polydl_filter_S0_vector_16 r10 = *(const polydl_filter_S0_vector_16 *)(from + x + 10 * 144L);
    polydl_filter_S0_vector_16 r11 = *(const polydl_filter_S0_vector_16 *)(from + x + 11 * 144L);
    polydl_filter_S0_vector_16 r12 = *(const polydl_filter_S0_vector_16 *)(from + x + 12 * 144L);
    polydl_filter_S0_vector_16 r13 = *(const polydl_filter_S0_vector_16 *)(from + x + 13 * 144L);
    polydl_filter_S0_vector_16 r14 = *(const polydl_filter_S0_vector_16 *)(from + x + 14 * 144L);
    polydl_filter_S0_vector_16 r15 = *(const polydl_filter_S0_vector_16 *)(from + x + 15 * 144L);
    { const polydl_filter_S0_vector_16 a = r0, b = r8;
      r0 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r8 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_filter_S0_vector_16 a = r1, b = r9;
      r1 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r9 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_filter_S0_vector_16 a = r2, b = r10;
      r2 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r10 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_filter_S0_vector_16 a = r3, b = r11;
      r3 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r11 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_filter_S0_vector_16 a = r4, b = r12;
      r4 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r12 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_filter_S0_vector_16 a = r5, b = r13;
      r5 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r13 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_filter_S0_vector_16 a = r6, b = r14;
      r6 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r14 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_filter_S0_vector_16 a = r7, b = r15;
      r7 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r15 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_filter_S0_vector_16 a = r0, b = r4;
      r0 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r4 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_filter_S0_vector_16 a = r1, b = r5;
      r1 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r5 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_filter_S0_vector_16 a = r2, b = r6;
      r2 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r6 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_filter_S0_vector_16 a = r3, b = r7;
      r3 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r7 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_filter_S0_vector_16 a = r8, b = r12;
      r8 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r12 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_filter_S0_vector_16 a = r9, b = r13;
      r9 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r13 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_filter_S0_vector_16 a = r10, b = r14;
      r10 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r14 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_filter_S0_vector_16 a = r11, b = r15;
      r11 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r15 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_filter_S0_vector_16 a = r0, b = r2;
      r0 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r2 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_filter_S0_vector_16 a = r1, b = r3;
      r1 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r3 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_filter_S0_vector_16 a = r4, b = r6;
      r4 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r6 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_filter_S0_vector_16 a = r5, b = r7;
      r5 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r7 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_filter_S0_vector_16 a = r8, b = r10;
      r8 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r10 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_filter_S0_vector_16 a = r9, b = r11;
      r9 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r11 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_filter_S0_vector_16 a = r12, b = r14;
      r12 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r14 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_filter_S0_vector_16 a = r13, b = r15;
      r13 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r15 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_filter_S0_vector_16 a = r0, b = r1;
      r0 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r1 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_filter_S0_vector_16 a = r2, b = r3;
      r2 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r3 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_filter_S0_vector_16 a = r4, b = r5;
      r4 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r5 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_filter_S0_vector_16 a = r6, b = r7;
      r6 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r7 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_filter_S0_vector_16 a = r8, b = r9;
      r8 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r9 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_filter_S0_vector_16 a = r10, b = r11;
      r10 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r11 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_filter_S0_vector_16 a = r12, b = r13;
      r12 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r13 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_filter_S0_vector_16 a = r14, b = r15;
      r14 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r15 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    *(polydl_filter_S0_vector_16 *)(strip + (x + 0) * 16) = r0;
    *(polydl_filter_S0_vector_16 *)(strip + (x + 1) * 16) = r1;
    *(polydl_filter_S0_vector_16 *)(strip + (x + 2) * 16) = r2;
    *(polydl_filter_S0_vector_16 *)(strip + (x + 3) * 16) = r3;
    *(polydl_filter_S0_vector_16 *)(strip + (x + 4) * 16) = r4;
    *(polydl_filter_S0_vector_16 *)(strip + (x + 5) * 16) = r5;
    *(polydl_filter_S0_vector_16 *)(strip + (x + 6) * 16) = r6;
    *(polydl_filter_S0_vector_16 *)(strip + (x + 7) * 16) = r7;
    *(polydl_filter_S0_vector_16 *)(strip + (x + 8) * 16) = r8;
    *(polydl_filter_S0_vector_16 *)(strip + (x + 9) * 16) = r9;
    *(polydl_filter_S0_vector_16 *)(strip + (x + 10) * 16) = r10;
    *(polydl_filter_S0_vector_16 *)(strip + (x + 11) * 16) = r11;
    *(polydl_filter_S0_vector_16 *)(strip + (x + 12) * 16) = r12;
    *(polydl_filter_S0_vector_16 *)(strip + (x + 13) * 16) = r13;
    *(polydl_filter_S0_vector_16 *)(strip + (x + 14) * 16) = r14;
    *(polydl_filter_S0_vector_16 *)(strip + (x + 15) * 16) = r15;
  }
  for (; x < there; ++x)
    for (int i = 0; i < 16; ++i)
      strip[x * 16 + i] = from[x + i * 144L];
  for (; x < length; ++x)
    for (int i = 0; i < 16; ++i)
      strip[x * 16 + i] = 0;
}
static void polydl_filter_S0(const float *restrict from, float *restrict to)
{
  for (int lane = 0; lane < 32; lane += 16) {
    float strip[2304] __attribute__((aligned(64)));
    for (int tile = 0; tile < 16; tile += 16) {
      const int count = 16 - tile < 16 ? 16 - tile : 16;
      const int length = (count - 1) * 9 + 9;
        polydl_filter_S0_take_16(from + lane * 144L + tile * 9L, strip + (0) * 2304, length, length);
      for (int at = 0; at < count; ++at)
        polydl_filter_S0_by_16(strip + at * 144, to + lane + (tile + at) * 32L, 48, 16, 3072, 512);
    }
  }
}
typedef float polydl_result_S0_vector_16
  __attribute__((vector_size(64), aligned(4), may_alias));
static inline __attribute__((always_inline)) void polydl_result_S0_by_16(
    const float *from, float *to, long from0, long from1, long to0, long to1)
{
  const polydl_result_S0_vector_16 x0_0 = *(const polydl_result_S0_vector_16 *)(from + 0 * from0 + 0 * from1);
  const polydl_result_S0_vector_16 x1_0 = *(const polydl_result_S0_vector_16 *)(from + 1 * from0 + 0 * from1);
  const polydl_result_S0_vector_16 x2_0 = *(const polydl_result_S0_vector_16 *)(from + 2 * from0 + 0 * from1);
  const polydl_result_S0_vector_16 x3_0 = *(const polydl_result_S0_vector_16 *)(from + 3 * from0 + 0 * from1);
  const polydl_result_S0_vector_16 x4_0 = *(const polydl_result_S0_vector_16 *)(from + 4 * from0 + 0 * from1);
  const polydl_result_S0_vector_16 x5_0 = *(const polydl_result_S0_vector_16 *)(from + 5 * from0 + 0 * from1);
  const polydl_result_S0_vector_16 a0_s1 = x1_0 + x2_0;
  const polydl_result_S0_vector_16 a0_d1 = x1_0 - x2_0;
  const polydl_result_S0_vector_16 a0_s3 = x3_0 + x4_0;
  const polydl_result_S0_vector_16 a0_d3 = x3_0 - x4_0;
  const polydl_result_S0_vector_16 t0_0 = x0_0 + a0_s1 + a0_s3;
  const polydl_result_S0_vector_16 t1_0 = 0.75f * a0_d1 + 1.5f * a0_d3;
  const polydl_result_S0_vector_16 t2_0 = 0.5625f * a0_s1 + 2.25f * a0_s3;
  const polydl_result_S0_vector_16 t3_0 = 0.421875f * a0_d1 + 3.375f * a0_d3 + x5_0;
  const polydl_result_S0_vector_16 x0_1 = *(const polydl_result_S0_vector_16 *)(from + 0 * from0 + 1 * from1);
  const polydl_result_S0_vector_16 x1_1 = *(const polydl_result_S0_vector_16 *)(from + 1 * from0 + 1 * from1);
  const polydl_result_S0_vector_16 x2_1 = *(const polydl_result_S0_vector_16 *)(from + 2 * from0 + 1 * from1);
  const polydl_result_S0_vector_16 x3_1 = *(const polydl_result_S0_vector_16 *)(from + 3 * from0 + 1 * from1);
  const polydl_result_S0_vector_16 x4_1 = *(const polydl_result_S0_vector_16 *)(from + 4 * from0 + 1 * from1);
  const polydl_result_S0_vector_16 x5_1 = *(const polydl_result_S0_vector_16 *)(from + 5 * from0 + 1 * from1);
  const polydl_result_S0_vector_16 a1_s1 = x1_1 + x2_1;
  const polydl_result_S0_vector_16 a1_d1 = x1_1 - x2_1;
  const polydl_result_S0_vector_16 a1_s3 = x3_1 + x4_1;
  const polydl_result_S0_vector_16 a1_d3 = x3_1 - x4_1;
  const polydl_result_S0_vector_16 t0_1 = x0_1 + a1_s1 + a1_s3;
  const polydl_result_S0_vector_16 t1_1 = 0.75f * a1_d1 + 1.5f * a1_d3;
  const polydl_result_S0_vector_16 t2_1 = 0.5625f * a1_s1 + 2.25f * a1_s3;
  const polydl_result_S0_vector_16 t3_1 = 0.421875f * a1_d1 + 3.375f * a1_d3 + x5_1;
  const polydl_result_S0_vector_16 x0_2 = *(const polydl_result_S0_vector_16 *)(from + 0 * from0 + 2 * from1);
  const polydl_result_S0_vector_16 x1_2 = *(const polydl_result_S0_vector_16 *)(from + 1 * from0 + 2 * from1);
  const polydl_result_S0_vector_16 x2_2 = *(const polydl_result_S0_vector_16 *)(from + 2 * from0 + 2 * from1);
  const polydl_result_S0_vector_16 x3_2 = *(const polydl_result_S0_vector_16 *)(from + 3 * from0 + 2 * from1);
  const polydl_result_S0_vector_16 x4_2 = *(const polydl_result_S0_vector_16 *)(from + 4 * from0 + 2 * from1);
  const polydl_result_S0_vector_16 x5_2 = *(const polydl_result_S0_vector_16 *)(from + 5 * from0 + 2 * from1);
  const polydl_result_S0_vector_16 a2_s1 = x1_2 + x2_2;
  const polydl_result_S0_vector_16 a2_d1 = x1_2 - x2_2;
  const polydl_result_S0_vector_16 a2_s3 = x3_2 + x4_2;
  const polydl_result_S0_vector_16 a2_d3 = x3_2 - x4_2;
  const polydl_result_S0_vector_16 t0_2 = x0_2 + a2_s1 + a2_s3;
  const polydl_result_S0_vector_16 t1_2 = 0.75f * a2_d1 + 1.5f * a2_d3;
  const polydl_result_S0_vector_16 t2_2 = 0.5625f * a2_s1 + 2.25f * a2_s3;
  const polydl_result_S0_vector_16 t3_2 = 0.421875f * a2_d1 + 3.375f * a2_d3 + x5_2;
  const polydl_result_S0_vector_16 x0_3 = *(const polydl_result_S0_vector_16 *)(from + 0 * from0 + 3 * from1);
  const polydl_result_S0_vector_16 x1_3 = *(const polydl_result_S0_vector_16 *)(from + 1 * from0 + 3 * from1);
  const polydl_result_S0_vector_16 x2_3 = *(const polydl_result_S0_vector_16 *)(from + 2 * from0 + 3 * from1);
  const polydl_result_S0_vector_16 x3_3 = *(const polydl_result_S0_vector_16 *)(from + 3 * from0 + 3 * from1);
  const polydl_result_S0_vector_16 x4_3 = *(const polydl_result_S0_vector_16 *)(from + 4 * from0 + 3 * from1);
  const polydl_result_S0_vector_16 x5_3 = *(const polydl_result_S0_vector_16 *)(from + 5 * from0 + 3 * from1);
  const polydl_result_S0_vector_16 a3_s1 = x1_3 + x2_3;
  const polydl_result_S0_vector_16 a3_d1 = x1_3 - x2_3;
  const polydl_result_S0_vector_16 a3_s3 = x3_3 + x4_3;
  const polydl_result_S0_vector_16 a3_d3 = x3_3 - x4_3;
  const polydl_result_S0_vector_16 t0_3 = x0_3 + a3_s1 + a3_s3;
  const polydl_result_S0_vector_16 t1_3 = 0.75f * a3_d1 + 1.5f * a3_d3;
  const polydl_result_S0_vector_16 t2_3 = 0.5625f * a3_s1 + 2.25f * a3_s3;
  const polydl_result_S0_vector_16 t3_3 = 0.421875f * a3_d1 + 3.375f * a3_d3 + x5_3;
  const polydl_result_S0_vector_16 x0_4 = *(const polydl_result_S0_vector_16 *)(from + 0 * from0 + 4 * from1);
  const polydl_result_S0_vector_16 x1_4 = *(const polydl_result_S0_vector_16 *)(from + 1 * from0 + 4 * from1);
  const polydl_result_S0_vector_16 x2_4 = *(const polydl_result_S0_vector_16 *)(from + 2 * from0 + 4 * from1);
  const polydl_result_S0_vector_16 x3_4 = *(const polydl_result_S0_vector_16 *)(from + 3 * from0 + 4 * from1);
  const polydl_result_S0_vector_16 x4_4 = *(const polydl_result_S0_vector_16 *)(from + 4 * from0 + 4 * from1);
  const polydl_result_S0_vector_16 x5_4 = *(const polydl_result_S0_vector_16 *)(from + 5 * from0 + 4 * from1);
  const polydl_result_S0_vector_16 a4_s1 = x1_4 + x2_4;
  const polydl_result_S0_vector_16 a4_d1 = x1_4 - x2_4;
  const polydl_result_S0_vector_16 a4_s3 = x3_4 + x4_4;
  const polydl_result_S0_vector_16 a4_d3 = x3_4 - x4_4;
  const polydl_result_S0_vector_16 t0_4 = x0_4 + a4_s1 + a4_s3;
  const polydl_result_S0_vector_16 t1_4 = 0.75f * a4_d1 + 1.5f * a4_d3;
  const polydl_result_S0_vector_16 t2_4 = 0.5625f * a4_s1 + 2.25f * a4_s3;
  const polydl_result_S0_vector_16 t3_4 = 0.421875f * a4_d1 + 3.375f * a4_d3 + x5_4;
  const polydl_result_S0_vector_16 x0_5 = *(const polydl_result_S0_vector_16 *)(from + 0 * from0 + 5 * from1);
  const polydl_result_S0_vector_16 x1_5 = *(const polydl_result_S0_vector_16 *)(from + 1 * from0 + 5 * from1);
  const polydl_result_S0_vector_16 x2_5 = *(const polydl_result_S0_vector_16 *)(from + 2 * from0 + 5 * from1);
  const polydl_result_S0_vector_16 x3_5 = *(const polydl_result_S0_vector_16 *)(from + 3 * from0 + 5 * from1);
  const polydl_result_S0_vector_16 x4_5 = *(const polydl_result_S0_vector_16 *)(from + 4 * from0 + 5 * from1);
  const polydl_result_S0_vector_16 x5_5 = *(const polydl_result_S0_vector_16 *)(from + 5 * from0 + 5 * from1);
  const polydl_result_S0_vector_16 a5_s1 = x1_5 + x2_5;
  const polydl_result_S0_vector_16 a5_d1 = x1_5 - x2_5;
  const polydl_result_S0_vector_16 a5_s3 = x3_5 + x4_5;
  const polydl_result_S0_vector_16 a5_d3 = x3_5 - x4_5;
  const polydl_result_S0_vector_16 t0_5 = x0_5 + a5_s1 + a5_s3;
  const polydl_result_S0_vector_16 t1_5 = 0.75f * a5_d1 + 1.5f * a5_d3;
  const polydl_result_S0_vector_16 t2_5 = 0.5625f * a5_s1 + 2.25f * a5_s3;
  const polydl_result_S0_vector_16 t3_5 = 0.421875f * a5_d1 + 3.375f * a5_d3 + x5_5;
  const polydl_result_S0_vector_16 b0_s1 = t0_1 + t0_2;
  const polydl_result_S0_vector_16 b0_d1 = t0_1 - t0_2;
  const polydl_result_S0_vector_16 b0_s3 = t0_3 + t0_4;
  const polydl_result_S0_vector_16 b0_d3 = t0_3 - t0_4;
  const polydl_result_S0_vector_16 y0_0 = t0_0 + b0_s1 + b0_s3;
  const polydl_result_S0_vector_16 y0_1 = 0.75f * b0_d1 + 1.5f * b0_d3;
  const polydl_result_S0_vector_16 y0_2 = 0.5625f * b0_s1 + 2.25f * b0_s3;
  const polydl_result_S0_vector_16 y0_3 = 0.421875f * b0_d1 + 3.375f * b0_d3 + t0_5;
  *(polydl_result_S0_vector_16 *)(to + 0 * to0 + 0 * to1) = y0_0;
  *(polydl_result_S0_vector_16 *)(to + 0 * to0 + 1 * to1) = y0_1;
  *(polydl_result_S0_vector_16 *)(to + 0 * to0 + 2 * to1) = y0_2;
  *(polydl_result_S0_vector_16 *)(to + 0 * to0 + 3 * to1) = y0_3;
  const polydl_result_S0_vector_16 b1_s1 = t1_1 + t1_2;
  const polydl_result_S0_vector_16 b1_d1 = t1_1 - t1_2;
  const polydl_result_S0_vector_16 b1_s3 = t1_3 + t1_4;
  const polydl_result_S0_vector_16 b1_d3 = t1_3 - t1_4;
  const polydl_result_S0_vector_16 y1_0 = t1_0 + b1_s1 + b1_s3;
  const polydl_result_S0_vector_16 y1_1 = 0.75f * b1_d1 + 1.5f * b1_d3;
  const polydl_result_S0_vector_16 y1_2 = 0.5625f * b1_s1 + 2.25f * b1_s3;
  const polydl_result_S0_vector_16 y1_3 = 0.421875f * b1_d1 + 3.375f * b1_d3 + t1_5;
  *(polydl_result_S0_vector_16 *)(to + 1 * to0 + 0 * to1) = y1_0;
  *(polydl_result_S0_vector_16 *)(to + 1 * to0 + 1 * to1) = y1_1;
  *(polydl_result_S0_vector_16 *)(to + 1 * to0 + 2 * to1) = y1_2;
  *(polydl_result_S0_vector_16 *)(to + 1 * to0 + 3 * to1) = y1_3;
  const polydl_result_S0_vector_16 b2_s1 = t2_1 + t2_2;
  const polydl_result_S0_vector_16 b2_d1 = t2_1 - t2_2;
  const polydl_result_S0_vector_16 b2_s3 = t2_3 + t2_4;
  const polydl_result_S0_vector_16 b2_d3 = t2_3 - t2_4;
  const polydl_result_S0_vector_16 y2_0 = t2_0 + b2_s1 + b2_s3;
  const polydl_result_S0_vector_16 y2_1 = 0.75f * b2_d1 + 1.5f * b2_d3;
  const polydl_result_S0_vector_16 y2_2 = 0.5625f * b2_s1 + 2.25f * b2_s3;
  const polydl_result_S0_vector_16 y2_3 = 0.421875f * b2_d1 + 3.375f * b2_d3 + t2_5;
  *(polydl_result_S0_vector_16 *)(to + 2 * to0 + 0 * to1) = y2_0;
  *(polydl_result_S0_vector_16 *)(to + 2 * to0 + 1 * to1) = y2_1;
  *(polydl_result_S0_vector_16 *)(to + 2 * to0 + 2 * to1) = y2_2;
  *(polydl_result_S0_vector_16 *)(to + 2 * to0 + 3 * to1) = y2_3;
  const polydl_result_S0_vector_16 b3_s1 = t3_1 + t3_2;
  const polydl_result_S0_vector_16 b3_d1 = t3_1 - t3_2;
  const polydl_result_S0_vector_16 b3_s3 = t3_3 + t3_4;
  const polydl_result_S0_vector_16 b3_d3 = t3_3 - t3_4;
  const polydl_result_S0_vector_16 y3_0 = t3_0 + b3_s1 + b3_s3;
  const polydl_result_S0_vector_16 y3_1 = 0.75f * b3_d1 + 1.5f * b3_d3;
  const polydl_result_S0_vector_16 y3_2 = 0.5625f * b3_s1 + 2.25f * b3_s3;
  const polydl_result_S0_vector_16 y3_3 = 0.421875f * b3_d1 + 3.375f * b3_d3 + t3_5;
  *(polydl_result_S0_vector_16 *)(to + 3 * to0 + 0 * to1) = y3_0;
  *(polydl_result_S0_vector_16 *)(to + 3 * to0 + 1 * to1) = y3_1;
  *(polydl_result_S0_vector_16 *)(to + 3 * to0 + 2 * to1) = y3_2;
  *(polydl_result_S0_vector_16 *)(to + 3 * to0 + 3 * to1) = y3_3;
}
#ifndef polydl_shuffled
#if defined(__clang__) || __GNUC__ >= 12
#define polydl_shuffled(kind, one, two, ...) __builtin_shufflevector(one, two, __VA_ARGS__)
#else
#define polydl_shuffled(kind, one, two, ...) __builtin_shuffle(one, two, (kind){__VA_ARGS__})
#endif
#endif
static inline void polydl_result_S0_put_16(const float *strip, float *to, int there)
{
  int x = 0;
  typedef int numbers __attribute__((vector_size(64), unused));
  for (; x + 16 <= there; x += 16) {
    polydl_result_S0_vector_16 r0 = *(const polydl_result_S0_vector_16 *)(strip + (x + 0) * 16);
    polydl_result_S0_vector_16 r1 = *(const polydl_result_S0_vector_16 *)(strip + (x + 1) * 16);
    polydl_result_S0_vector_16 r2 = *(const polydl_result_S0_vector_16 *)(strip + (x + 2) * 16);
    polydl_result_S0_vector_16 r3 = *(const polydl_result_S0_vector_16 *)(strip + (x + 3) * 16);
    polydl_result_S0_vector_16 r4 = *(const polydl_result_S0_vector_16 *)(strip + (x + 4) * 16);
    polydl_result_S0_vector_16 r5 = *(const polydl_result_S0_vector_16 *)(strip + (x + 5) * 16);
    polydl_result_S0_vector_16 r6 = *(const polydl_result_S0_vector_16 *)(strip + (x + 6) * 16);
    polydl_result_S0_vector_16 r7 = *(const polydl_result_S0_vector_16 *)(strip + (x + 7) * 16);
    polydl_result_S0_vector_16 r8 = *(const polydl_result_S0_vector_16 *)(strip + (x + 8) * 16);
    polydl_result_S0_vector_16 r9 = *(const polydl_result_S0_vector_16 *)(strip + (x + 9) * 16);
    polydl_result_S0_vector_16 r10 = *(const polydl_result_S0_vector_16 *)(strip + (x + 10) * 16);
    polydl_result_S0_vector_16 r11 = *(const polydl_result_S0_vector_16 *)(strip + (x + 11) * 16);
    polydl_result_S0_vector_16 r12 = *(const polydl_result_S0_vector_16 *)(strip + (x + 12) * 16);
    polydl_result_S0_vector_16 r13 = *(const polydl_result_S0_vector_16 *)(strip + (x + 13) * 16);
    polydl_result_S0_vector_16 r14 = *(const polydl_result_S0_vector_16 *)(strip + (x + 14) * 16);
    polydl_result_S0_vector_16 r15 = *(const polydl_result_S0_vector_16 *)(strip + (x + 15) * 16);
    { const polydl_result_S0_vector_16 a = r0, b = r8;
      r0 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r8 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_result_S0_vector_16 a = r1, b = r9;
      r1 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r9 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_result_S0_vector_16 a = r2, b = r10;
      r2 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r10 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_result_S0_vector_16 a = r3, b = r11;
      r3 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r11 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_result_S0_vector_16 a = r4, b = r12;
      r4 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r12 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_result_S0_vector_16 a = r5, b = r13;
      r5 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r13 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_result_S0_vector_16 a = r6, b = r14;
      r6 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r14 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_result_S0_vector_16 a = r7, b = r15;
      r7 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r15 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_result_S0_vector_16 a = r0, b = r4;
      r0 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r4 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_result_S0_vector_16 a = r1, b = r5;
      r1 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r5 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_result_S0_vector_16 a = r2, b = r6;
      r2 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r6 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_result_S0_vector_16 a = r3, b = r7;
      r3 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r7 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_result_S0_vector_16 a = r8, b = r12;
      r8 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r12 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_result_S0_vector_16 a = r9, b = r13;
      r9 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r13 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_result_S0_vector_16 a = r10, b = r14;
      r10 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r14 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_result_S0_vector_16 a = r11, b = r15;
      r11 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r15 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_result_S0_vector_16 a = r0, b = r2;
      r0 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r2 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_result_S0_vector_16 a = r1, b = r3;
      r1 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r3 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_result_S0_vector_16 a = r4, b = r6;
      r4 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r6 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_result_S0_vector_16 a = r5, b = r7;
      r5 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r7 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_result_S0_vector_16 a = r8, b = r10;
      r8 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r10 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_result_S0_vector_16 a = r9, b = r11;
      r9 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r11 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_result_S0_vector_16 a = r12, b = r14;
      r12 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r14 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_result_S0_vector_16 a = r13, b = r15;
      r13 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r15 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_result_S0_vector_16 a = r0, b = r1;
      r0 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r1 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_result_S0_vector_16 a = r2, b = r3;
      r2 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r3 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_result_S0_vector_16 a = r4, b = r5;
      r4 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r5 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_result_S0_vector_16 a = r6, b = r7;
      r6 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r7 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_result_S0_vector_16 a = r8, b = r9;
      r8 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r9 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_result_S0_vector_16 a = r10, b = r11;
      r10 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r11 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_result_S0_vector_16 a = r12, b = r13;
      r12 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r13 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_result_S0_vector_16 a = r14, b = r15;
      r14 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r15 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    *(polydl_result_S0_vector_16 *)(to + x + 0 * 144L) += r0;
    *(polydl_result_S0_vector_16 *)(to + x + 1 * 144L) += r1;
    *(polydl_result_S0_vector_16 *)(to + x + 2 * 144L) += r2;
    *(polydl_result_S0_vector_16 *)(to + x + 3 * 144L) += r3;
    *(polydl_result_S0_vector_16 *)(to + x + 4 * 144L) += r4;
    *(polydl_result_S0_vector_16 *)(to + x + 5 * 144L) += r5;
    *(polydl_result_S0_vector_16 *)(to + x + 6 * 144L) += r6;
    *(polydl_result_S0_vector_16 *)(to + x + 7 * 144L) += r7;
    *(polydl_result_S0_vector_16 *)(to + x + 8 * 144L) += r8;
    *(polydl_result_S0_vector_16 *)(to + x + 9 * 144L) += r9;
    *(polydl_result_S0_vector_16 *)(to + x + 10 * 144L) += r10;
    *(polydl_result_S0_vector_16 *)(to + x + 11 * 144L) += r11;
    *(polydl_result_S0_vector_16 *)(to + x + 12 * 144L) += r12;
    *(polydl_result_S0_vector_16 *)(to + x + 13 * 144L) += r13;
    *(polydl_result_S0_vector_16 *)(to + x + 14 * 144L) += r14;
    *(polydl_result_S0_vector_16 *)(to + x + 15 * 144L) += r15;
  }
  for (; x < there; ++x)
    for (int i = 0; i < 16; ++i)
      to[x + i * 144L] += strip[x * 16 + i];
}
static void polydl_result_S0(const float *restrict from, float *restrict to)
{
  for (int lane = 0; lane < 32; lane += 16) {
    float strip[768] __attribute__((aligned(64)));
    for (int tile = 0; tile < 3; tile += 3) {
      const int count = 3 - tile < 3 ? 3 - tile : 3;
      const int length = (count - 1) * 4 + 4;
      for (int at = 0; at < count; ++at)
        polydl_result_S0_by_16(from + lane + (tile + at) * 32L, strip + at * 64, 1728, 288, 192, 16);
      for (int at0 = 0; at0 < 4; ++at0)
        polydl_result_S0_put_16(strip + (1 * at0) * 192, to + lane * 144L + tile * 4L + at0 * 12L, length);
    }
  }
}

/* A 3x3 convolution over pointers, as C code often has it. */
#define f polydl_tuned_f
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void f(float *out, const float *in, const float *w)
{
  if (polydl_reserve()) {
    float (*out_shaped)[12][12] = (void *)out;
    float (*in_shaped)[14][14] = (void *)in;
    float (*w_shaped)[16][3][3] = (void *)w;
    float (*in_shaped_points)[9][16] = polydl_kept(0);
    float (*w_shaped_points)[16][32] = polydl_kept(1);
    float (*out_shaped_points)[9][32] = polydl_kept(2);
    for (int y = 0; y <= 2; ++y) {
      polydl_image_S0(&in_shaped[0][4 * y][0], &in_shaped_points[0][3 * y][0]);
    }
    polydl_filter_S0(&w_shaped[0][0][0][0], &w_shaped_points[0][0][0]);
    for (int point = 0; point <= 35; ++point) {
      polydl_gemm3_run(&w_shaped_points[point][0][0], &in_shaped_points[point][0][0], &out_shaped_points[point][0][0], 0, 0, 0, 1, 1);
    }
    for (int y = 0; y <= 2; ++y) {
      polydl_result_S0(&out_shaped_points[0][3 * y][0], &out_shaped[0][4 * y][0]);
    }
    polydl_leave();
  } else {
  for (int o = 0; o < 32; o++)
    for (int y = 0; y < 12; y++)
      for (int x = 0; x < 12; x++)
        for (int c = 0; c < 16; c++)
          for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++)
              out[(o * 12 + y) * 12 + x] += w[((o * 16 + c) * 3 + r) * 3 + s] * in[(c * 14 + y + r) * 14 + x + s];
  }
}
#undef f

/* for all processors */
void f(float *out, const float *in, const float *w)
{
  if (polydl_fits()) {
    polydl_tuned_f(out, in, w);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int o = 0; o < 32; o++)
    for (int y = 0; y < 12; y++)
      for (int x = 0; x < 12; x++)
        for (int c = 0; c < 16; c++)
          for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++)
              out[(o * 12 + y) * 12 + x] += w[((o * 16 + c) * 3 + r) * 3 + s] * in[(c * 14 + y + r) * 14 + x + s];
#endif
}
void f_release(void);
void f_release(void)
{
  if (polydl_enter()) {
    polydl_drop();
    polydl_leave();
  }
}
const char *f_missing(void);
const char *f_missing(void)
{
  return polydl_missing();
}
/* for this one */
