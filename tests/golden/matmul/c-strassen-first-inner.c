#include <stddef.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#pragma GCC diagnostic ignored "-Wunused-variable"

/* processor */
/* team */
static struct polydl_team polydl_team;
enum { polydl_arrays = 3, polydl_reserved = 3 };
static const size_t polydl_sizes[polydl_arrays] = {462336, 232960, 231168};
/* kept memory */
static const long polydl_gemm3_offsets_a[2] = {0, 29120};
static const long polydl_gemm3_offsets_b[2] = {0, 57792};
typedef float polydl_gemm3_vector16 __attribute__((vector_size(64), aligned(sizeof(float)), may_alias));
static const long polydl_gemm3_starts0[9] = {0, 384, 768, 1152, 1536, 1920, 2304, 2688, 3072};
static const long polydl_gemm3_starts1[2] = {3456, 3776};
static inline void polydl_gemm3_block0_4x6(const float *a, const float *b, float *c, long k, long count, int first)
{
  polydl_gemm3_vector16 c0_0 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 0);
  polydl_gemm3_vector16 c1_0 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 16);
  polydl_gemm3_vector16 c2_0 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 32);
  polydl_gemm3_vector16 c3_0 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 48);
  polydl_gemm3_vector16 c0_1 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 64);
  polydl_gemm3_vector16 c1_1 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 80);
  polydl_gemm3_vector16 c2_1 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 96);
  polydl_gemm3_vector16 c3_1 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 112);
  polydl_gemm3_vector16 c0_2 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 128);
  polydl_gemm3_vector16 c1_2 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 144);
  polydl_gemm3_vector16 c2_2 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 160);
  polydl_gemm3_vector16 c3_2 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 176);
  polydl_gemm3_vector16 c0_3 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 192);
  polydl_gemm3_vector16 c1_3 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 208);
  polydl_gemm3_vector16 c2_3 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 224);
  polydl_gemm3_vector16 c3_3 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 240);
  polydl_gemm3_vector16 c0_4 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 256);
  polydl_gemm3_vector16 c1_4 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 272);
  polydl_gemm3_vector16 c2_4 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 288);
  polydl_gemm3_vector16 c3_4 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 304);
  polydl_gemm3_vector16 c0_5 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 320);
  polydl_gemm3_vector16 c1_5 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 336);
  polydl_gemm3_vector16 c2_5 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 352);
  polydl_gemm3_vector16 c3_5 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 368);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm3_offsets_a[r];
    const float *br = b + polydl_gemm3_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 64 + 0);
      const polydl_gemm3_vector16 a0 = *(const polydl_gemm3_vector16 *)(ar + l * 64 + 0);
      __builtin_prefetch(ar + (l + 8) * 64 + 16);
      const polydl_gemm3_vector16 a1 = *(const polydl_gemm3_vector16 *)(ar + l * 64 + 16);
      __builtin_prefetch(ar + (l + 8) * 64 + 32);
      const polydl_gemm3_vector16 a2 = *(const polydl_gemm3_vector16 *)(ar + l * 64 + 32);
      __builtin_prefetch(ar + (l + 8) * 64 + 48);
      const polydl_gemm3_vector16 a3 = *(const polydl_gemm3_vector16 *)(ar + l * 64 + 48);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0; c2_0 += a2 * b0; c3_0 += a3 * b0;
      const float b1 = bl[64]; c0_1 += a0 * b1; c1_1 += a1 * b1; c2_1 += a2 * b1; c3_1 += a3 * b1;
      const float b2 = bl[128]; c0_2 += a0 * b2; c1_2 += a1 * b2; c2_2 += a2 * b2; c3_2 += a3 * b2;
      const float b3 = bl[192]; c0_3 += a0 * b3; c1_3 += a1 * b3; c2_3 += a2 * b3; c3_3 += a3 * b3;
      const float b4 = bl[256]; c0_4 += a0 * b4; c1_4 += a1 * b4; c2_4 += a2 * b4; c3_4 += a3 * b4;
      const float b5 = bl[320]; c0_5 += a0 * b5; c1_5 += a1 * b5; c2_5 += a2 * b5; c3_5 += a3 * b5;
    }
  }
  *(polydl_gemm3_vector16 *)(c + 0) = c0_0;
  *(polydl_gemm3_vector16 *)(c + 16) = c1_0;
  *(polydl_gemm3_vector16 *)(c + 32) = c2_0;
  *(polydl_gemm3_vector16 *)(c + 48) = c3_0;
  *(polydl_gemm3_vector16 *)(c + 64) = c0_1;
  *(polydl_gemm3_vector16 *)(c + 80) = c1_1;
  *(polydl_gemm3_vector16 *)(c + 96) = c2_1;
  *(polydl_gemm3_vector16 *)(c + 112) = c3_1;
  *(polydl_gemm3_vector16 *)(c + 128) = c0_2;
  *(polydl_gemm3_vector16 *)(c + 144) = c1_2;
  *(polydl_gemm3_vector16 *)(c + 160) = c2_2;
  *(polydl_gemm3_vector16 *)(c + 176) = c3_2;
  *(polydl_gemm3_vector16 *)(c + 192) = c0_3;
  *(polydl_gemm3_vector16 *)(c + 208) = c1_3;
  *(polydl_gemm3_vector16 *)(c + 224) = c2_3;
  *(polydl_gemm3_vector16 *)(c + 240) = c3_3;
  *(polydl_gemm3_vector16 *)(c + 256) = c0_4;
  *(polydl_gemm3_vector16 *)(c + 272) = c1_4;
  *(polydl_gemm3_vector16 *)(c + 288) = c2_4;
  *(polydl_gemm3_vector16 *)(c + 304) = c3_4;
  *(polydl_gemm3_vector16 *)(c + 320) = c0_5;
  *(polydl_gemm3_vector16 *)(c + 336) = c1_5;
  *(polydl_gemm3_vector16 *)(c + 352) = c2_5;
  *(polydl_gemm3_vector16 *)(c + 368) = c3_5;
}
static inline void polydl_gemm3_block1_4x5(const float *a, const float *b, float *c, long k, long count, int first)
{
  polydl_gemm3_vector16 c0_0 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 0);
  polydl_gemm3_vector16 c1_0 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 16);
  polydl_gemm3_vector16 c2_0 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 32);
  polydl_gemm3_vector16 c3_0 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 48);
  polydl_gemm3_vector16 c0_1 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 64);
  polydl_gemm3_vector16 c1_1 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 80);
  polydl_gemm3_vector16 c2_1 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 96);
  polydl_gemm3_vector16 c3_1 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 112);
  polydl_gemm3_vector16 c0_2 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 128);
  polydl_gemm3_vector16 c1_2 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 144);
  polydl_gemm3_vector16 c2_2 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 160);
  polydl_gemm3_vector16 c3_2 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 176);
  polydl_gemm3_vector16 c0_3 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 192);
  polydl_gemm3_vector16 c1_3 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 208);
  polydl_gemm3_vector16 c2_3 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 224);
  polydl_gemm3_vector16 c3_3 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 240);
  polydl_gemm3_vector16 c0_4 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 256);
  polydl_gemm3_vector16 c1_4 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 272);
  polydl_gemm3_vector16 c2_4 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 288);
  polydl_gemm3_vector16 c3_4 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 304);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm3_offsets_a[r];
    const float *br = b + polydl_gemm3_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 64 + 0);
      const polydl_gemm3_vector16 a0 = *(const polydl_gemm3_vector16 *)(ar + l * 64 + 0);
      __builtin_prefetch(ar + (l + 8) * 64 + 16);
      const polydl_gemm3_vector16 a1 = *(const polydl_gemm3_vector16 *)(ar + l * 64 + 16);
      __builtin_prefetch(ar + (l + 8) * 64 + 32);
      const polydl_gemm3_vector16 a2 = *(const polydl_gemm3_vector16 *)(ar + l * 64 + 32);
      __builtin_prefetch(ar + (l + 8) * 64 + 48);
      const polydl_gemm3_vector16 a3 = *(const polydl_gemm3_vector16 *)(ar + l * 64 + 48);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0; c2_0 += a2 * b0; c3_0 += a3 * b0;
      const float b1 = bl[64]; c0_1 += a0 * b1; c1_1 += a1 * b1; c2_1 += a2 * b1; c3_1 += a3 * b1;
      const float b2 = bl[128]; c0_2 += a0 * b2; c1_2 += a1 * b2; c2_2 += a2 * b2; c3_2 += a3 * b2;
      const float b3 = bl[192]; c0_3 += a0 * b3; c1_3 += a1 * b3; c2_3 += a2 * b3; c3_3 += a3 * b3;
      const float b4 = bl[256]; c0_4 += a0 * b4; c1_4 += a1 * b4; c2_4 += a2 * b4; c3_4 += a3 * b4;
    }
  }
  *(polydl_gemm3_vector16 *)(c + 0) = c0_0;
  *(polydl_gemm3_vector16 *)(c + 16) = c1_0;
  *(polydl_gemm3_vector16 *)(c + 32) = c2_0;
  *(polydl_gemm3_vector16 *)(c + 48) = c3_0;
  *(polydl_gemm3_vector16 *)(c + 64) = c0_1;
  *(polydl_gemm3_vector16 *)(c + 80) = c1_1;
  *(polydl_gemm3_vector16 *)(c + 96) = c2_1;
  *(polydl_gemm3_vector16 *)(c + 112) = c3_1;
  *(polydl_gemm3_vector16 *)(c + 128) = c0_2;
  *(polydl_gemm3_vector16 *)(c + 144) = c1_2;
  *(polydl_gemm3_vector16 *)(c + 160) = c2_2;
  *(polydl_gemm3_vector16 *)(c + 176) = c3_2;
  *(polydl_gemm3_vector16 *)(c + 192) = c0_3;
  *(polydl_gemm3_vector16 *)(c + 208) = c1_3;
  *(polydl_gemm3_vector16 *)(c + 224) = c2_3;
  *(polydl_gemm3_vector16 *)(c + 240) = c3_3;
  *(polydl_gemm3_vector16 *)(c + 256) = c0_4;
  *(polydl_gemm3_vector16 *)(c + 272) = c1_4;
  *(polydl_gemm3_vector16 *)(c + 288) = c2_4;
  *(polydl_gemm3_vector16 *)(c + 304) = c3_4;
}
static void polydl_gemm3_run_000(const float *a, const float *b, float *c, long count, int first)
{
  for (int i = 0; i < 9; ++i) {
    polydl_gemm3_block0_4x6(a + 0, b + polydl_gemm3_starts0[i], c + 0 + polydl_gemm3_starts0[i], 64, count, first);
  }
  for (int i = 0; i < 2; ++i) {
    polydl_gemm3_block1_4x5(a + 0, b + polydl_gemm3_starts1[i], c + 0 + polydl_gemm3_starts1[i], 64, count, first);
  }
}
static void polydl_gemm3_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  (void)last_m;
  (void)last_n;
  (void)last_k;
  if (1)
    polydl_gemm3_run_000(a, b, c, count, first);
}
typedef float polydl_rows_S0_vector_16
  __attribute__((vector_size(64), aligned(4), may_alias));
static inline __attribute__((always_inline)) void polydl_rows_S0_by_16(
    const float *from, float *to, long from0, long from1, long to0)
{
  const polydl_rows_S0_vector_16 x0_0 = *(const polydl_rows_S0_vector_16 *)(from + 0 * from0 + 0 * from1);
  const polydl_rows_S0_vector_16 x0_1 = *(const polydl_rows_S0_vector_16 *)(from + 0 * from0 + 1 * from1);
  const polydl_rows_S0_vector_16 x1_0 = *(const polydl_rows_S0_vector_16 *)(from + 1 * from0 + 0 * from1);
  const polydl_rows_S0_vector_16 x1_1 = *(const polydl_rows_S0_vector_16 *)(from + 1 * from0 + 1 * from1);
  const polydl_rows_S0_vector_16 y0 = x0_0 + x1_1;
  const polydl_rows_S0_vector_16 y1 = x1_0 + x1_1;
  const polydl_rows_S0_vector_16 y2 = x0_0;
  const polydl_rows_S0_vector_16 y3 = x1_1;
  const polydl_rows_S0_vector_16 y4 = x0_0 + x0_1;
  const polydl_rows_S0_vector_16 y5 = x1_0 - x0_0;
  const polydl_rows_S0_vector_16 y6 = x0_1 - x1_1;
  *(polydl_rows_S0_vector_16 *)(to + 0 * to0) = y0;
  *(polydl_rows_S0_vector_16 *)(to + 1 * to0) = y1;
  *(polydl_rows_S0_vector_16 *)(to + 2 * to0) = y2;
  *(polydl_rows_S0_vector_16 *)(to + 3 * to0) = y3;
  *(polydl_rows_S0_vector_16 *)(to + 4 * to0) = y4;
  *(polydl_rows_S0_vector_16 *)(to + 5 * to0) = y5;
  *(polydl_rows_S0_vector_16 *)(to + 6 * to0) = y6;
}
static void polydl_rows_S0(const float *restrict from, float *restrict to)
{
  for (int lane = 0; lane < 64; lane += 16) {
    polydl_rows_S0_by_16(from + lane, to + lane, 32768, 128, 8256);
  }
}
typedef float polydl_columns_S0_vector_16
  __attribute__((vector_size(64), aligned(4), may_alias));
static inline __attribute__((always_inline)) void polydl_columns_S0_by_16(
    const float *from, float *to, long from0, long from1, long to0)
{
  const polydl_columns_S0_vector_16 x0_0 = *(const polydl_columns_S0_vector_16 *)(from + 0 * from0 + 0 * from1);
  const polydl_columns_S0_vector_16 x0_1 = *(const polydl_columns_S0_vector_16 *)(from + 0 * from0 + 1 * from1);
  const polydl_columns_S0_vector_16 x1_0 = *(const polydl_columns_S0_vector_16 *)(from + 1 * from0 + 0 * from1);
  const polydl_columns_S0_vector_16 x1_1 = *(const polydl_columns_S0_vector_16 *)(from + 1 * from0 + 1 * from1);
  const polydl_columns_S0_vector_16 y0 = x0_0 + x1_1;
  const polydl_columns_S0_vector_16 y1 = x0_0;
  const polydl_columns_S0_vector_16 y2 = x0_1 - x1_1;
  const polydl_columns_S0_vector_16 y3 = x1_0 - x0_0;
  const polydl_columns_S0_vector_16 y4 = x1_1;
  const polydl_columns_S0_vector_16 y5 = x0_0 + x0_1;
  const polydl_columns_S0_vector_16 y6 = x1_0 + x1_1;
  *(polydl_columns_S0_vector_16 *)(to + 0 * to0) = y0;
  *(polydl_columns_S0_vector_16 *)(to + 1 * to0) = y1;
  *(polydl_columns_S0_vector_16 *)(to + 2 * to0) = y2;
  *(polydl_columns_S0_vector_16 *)(to + 3 * to0) = y3;
  *(polydl_columns_S0_vector_16 *)(to + 4 * to0) = y4;
  *(polydl_columns_S0_vector_16 *)(to + 5 * to0) = y5;
  *(polydl_columns_S0_vector_16 *)(to + 6 * to0) = y6;
}
static void polydl_columns_S0(const float *restrict from, float *restrict to)
{
  for (int lane = 0; lane < 64; lane += 16) {
    polydl_columns_S0_by_16(from + lane, to + lane, 32768, 64, 4160);
  }
}
typedef float polydl_result_S0_vector_16
  __attribute__((vector_size(64), aligned(4), may_alias));
static inline __attribute__((always_inline)) void polydl_result_S0_by_16(
    const float *from, float *to, long from0, long to0, long to1)
{
  const polydl_result_S0_vector_16 x0 = *(const polydl_result_S0_vector_16 *)(from + 0 * from0);
  const polydl_result_S0_vector_16 x1 = *(const polydl_result_S0_vector_16 *)(from + 1 * from0);
  const polydl_result_S0_vector_16 x2 = *(const polydl_result_S0_vector_16 *)(from + 2 * from0);
  const polydl_result_S0_vector_16 x3 = *(const polydl_result_S0_vector_16 *)(from + 3 * from0);
  const polydl_result_S0_vector_16 x4 = *(const polydl_result_S0_vector_16 *)(from + 4 * from0);
  const polydl_result_S0_vector_16 x5 = *(const polydl_result_S0_vector_16 *)(from + 5 * from0);
  const polydl_result_S0_vector_16 x6 = *(const polydl_result_S0_vector_16 *)(from + 6 * from0);
  const polydl_result_S0_vector_16 y0_0 = x0 + x3 + x6 - x4;
  const polydl_result_S0_vector_16 y0_1 = x2 + x4;
  const polydl_result_S0_vector_16 y1_0 = x1 + x3;
  const polydl_result_S0_vector_16 y1_1 = x0 + x2 + x5 - x1;
  *(polydl_result_S0_vector_16 *)(to + 0 * to0 + 0 * to1) += y0_0;
  *(polydl_result_S0_vector_16 *)(to + 0 * to0 + 1 * to1) += y0_1;
  *(polydl_result_S0_vector_16 *)(to + 1 * to0 + 0 * to1) += y1_0;
  *(polydl_result_S0_vector_16 *)(to + 1 * to0 + 1 * to1) += y1_1;
}
static void polydl_result_S0(const float *restrict from, float *restrict to)
{
  for (int lane = 0; lane < 64; lane += 16) {
    polydl_result_S0_by_16(from + lane, to + lane, 8256, 32768, 64);
  }
}

/* C += A * B, large enough for quarters of quarters. */
#define matmul polydl_tuned_matmul
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void matmul(float C[256][256], const float A[256][256], const float B[256][256])
{
  if (polydl_reserve()) {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    float (*A_points)[7][129][64] = polydl_kept(0);
    float (*B_points)[7][65][64] = polydl_kept(1);
    float (*C_points)[129][64] = polydl_kept(2);
    #pragma omp parallel for
    for (int i = 0; i <= 127; ++i) {
      for (int k_block = 0; k_block <= 1; ++k_block) {
        polydl_rows_S0(&A[i][64 * k_block], &A_points[k_block][0][i][0]);
      }
    }
    for (int j_block_block = 0; j_block_block <= 1; ++j_block_block) {
      polydl_between();
      #pragma omp parallel for
      for (int polydl_c3 = 0; polydl_c3 <= 1; ++polydl_c3) {
        for (int polydl_c4 = 0; polydl_c4 <= 63; ++polydl_c4) {
          polydl_columns_S0(&B[64 * polydl_c3 + polydl_c4][128 * j_block_block], &B_points[polydl_c3][0][polydl_c4][0]);
        }
      }
      polydl_between();
      #pragma omp parallel for collapse(2)
      for (int polydl_c3 = 0; polydl_c3 <= 6; ++polydl_c3) {
        for (int polydl_c4 = 0; polydl_c4 <= 1; ++polydl_c4) {
          polydl_gemm3_run(&B_points[0][polydl_c3][0][0], &A_points[0][polydl_c3][64 * polydl_c4][0], &C_points[polydl_c3][64 * polydl_c4][0], 0, 0, 0, 2, 1);
        }
      }
      polydl_between();
      #pragma omp parallel for
      for (int polydl_c3 = 0; polydl_c3 <= 127; ++polydl_c3) {
        polydl_result_S0(&C_points[0][polydl_c3][0], &C[polydl_c3][128 * j_block_block]);
      }
    }
    polydl_end(&polydl_call);
    polydl_leave();
  } else {
  for (int i = 0; i < 256; ++i)
    for (int j = 0; j < 256; ++j)
      for (int k = 0; k < 256; ++k)
        C[i][j] += A[i][k] * B[k][j];
  }
}
#undef matmul

/* for all processors */
void matmul(float C[256][256], const float A[256][256], const float B[256][256])
{
  if (polydl_fits()) {
    polydl_tuned_matmul(C, A, B);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 0; i < 256; ++i)
    for (int j = 0; j < 256; ++j)
      for (int k = 0; k < 256; ++k)
        C[i][j] += A[i][k] * B[k][j];
#endif
}
void matmul_release(void);
void matmul_release(void)
{
  if (polydl_enter()) {
    polydl_drop();
    polydl_leave();
  }
}
const char *matmul_missing(void);
const char *matmul_missing(void)
{
  return polydl_missing();
}
/* for this one */
