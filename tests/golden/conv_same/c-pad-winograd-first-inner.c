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
static const size_t polydl_sizes[polydl_arrays] = {50176, 32768, 100352};
/* kept memory */
static const long polydl_gemm5_offsets_a[1] = {0};
static const long polydl_gemm5_offsets_b[1] = {0};
typedef float polydl_gemm5_vector16 __attribute__((vector_size(64), aligned(sizeof(float)), may_alias));
static inline void polydl_gemm5_block0_2x7(const float *a, const float *b, float *c, long k, long count, int first)
{
  polydl_gemm5_vector16 c0_0 = first ? (polydl_gemm5_vector16){0} : *(const polydl_gemm5_vector16 *)(c + 0);
  polydl_gemm5_vector16 c1_0 = first ? (polydl_gemm5_vector16){0} : *(const polydl_gemm5_vector16 *)(c + 16);
  polydl_gemm5_vector16 c0_1 = first ? (polydl_gemm5_vector16){0} : *(const polydl_gemm5_vector16 *)(c + 32);
  polydl_gemm5_vector16 c1_1 = first ? (polydl_gemm5_vector16){0} : *(const polydl_gemm5_vector16 *)(c + 48);
  polydl_gemm5_vector16 c0_2 = first ? (polydl_gemm5_vector16){0} : *(const polydl_gemm5_vector16 *)(c + 64);
  polydl_gemm5_vector16 c1_2 = first ? (polydl_gemm5_vector16){0} : *(const polydl_gemm5_vector16 *)(c + 80);
  polydl_gemm5_vector16 c0_3 = first ? (polydl_gemm5_vector16){0} : *(const polydl_gemm5_vector16 *)(c + 96);
  polydl_gemm5_vector16 c1_3 = first ? (polydl_gemm5_vector16){0} : *(const polydl_gemm5_vector16 *)(c + 112);
  polydl_gemm5_vector16 c0_4 = first ? (polydl_gemm5_vector16){0} : *(const polydl_gemm5_vector16 *)(c + 128);
  polydl_gemm5_vector16 c1_4 = first ? (polydl_gemm5_vector16){0} : *(const polydl_gemm5_vector16 *)(c + 144);
  polydl_gemm5_vector16 c0_5 = first ? (polydl_gemm5_vector16){0} : *(const polydl_gemm5_vector16 *)(c + 160);
  polydl_gemm5_vector16 c1_5 = first ? (polydl_gemm5_vector16){0} : *(const polydl_gemm5_vector16 *)(c + 176);
  polydl_gemm5_vector16 c0_6 = first ? (polydl_gemm5_vector16){0} : *(const polydl_gemm5_vector16 *)(c + 192);
  polydl_gemm5_vector16 c1_6 = first ? (polydl_gemm5_vector16){0} : *(const polydl_gemm5_vector16 *)(c + 208);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm5_offsets_a[r];
    const float *br = b + polydl_gemm5_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 32 + 0);
      const polydl_gemm5_vector16 a0 = *(const polydl_gemm5_vector16 *)(ar + l * 32 + 0);
      __builtin_prefetch(ar + (l + 8) * 32 + 16);
      const polydl_gemm5_vector16 a1 = *(const polydl_gemm5_vector16 *)(ar + l * 32 + 16);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0;
      const float b1 = bl[16]; c0_1 += a0 * b1; c1_1 += a1 * b1;
      const float b2 = bl[32]; c0_2 += a0 * b2; c1_2 += a1 * b2;
      const float b3 = bl[48]; c0_3 += a0 * b3; c1_3 += a1 * b3;
      const float b4 = bl[64]; c0_4 += a0 * b4; c1_4 += a1 * b4;
      const float b5 = bl[80]; c0_5 += a0 * b5; c1_5 += a1 * b5;
      const float b6 = bl[96]; c0_6 += a0 * b6; c1_6 += a1 * b6;
    }
  }
  *(polydl_gemm5_vector16 *)(c + 0) = c0_0;
  *(polydl_gemm5_vector16 *)(c + 16) = c1_0;
  *(polydl_gemm5_vector16 *)(c + 32) = c0_1;
  *(polydl_gemm5_vector16 *)(c + 48) = c1_1;
  *(polydl_gemm5_vector16 *)(c + 64) = c0_2;
  *(polydl_gemm5_vector16 *)(c + 80) = c1_2;
  *(polydl_gemm5_vector16 *)(c + 96) = c0_3;
  *(polydl_gemm5_vector16 *)(c + 112) = c1_3;
  *(polydl_gemm5_vector16 *)(c + 128) = c0_4;
  *(polydl_gemm5_vector16 *)(c + 144) = c1_4;
  *(polydl_gemm5_vector16 *)(c + 160) = c0_5;
  *(polydl_gemm5_vector16 *)(c + 176) = c1_5;
  *(polydl_gemm5_vector16 *)(c + 192) = c0_6;
  *(polydl_gemm5_vector16 *)(c + 208) = c1_6;
}
static void polydl_gemm5_run_000(const float *a, const float *b, float *c, long count, int first)
{
  polydl_gemm5_block0_2x7(a + 0, b + 0, c + 0 + 0, 16, count, first);
}
static void polydl_gemm5_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  (void)last_m;
  (void)last_n;
  (void)last_k;
  if (1)
    polydl_gemm5_run_000(a, b, c, count, first);
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
#ifndef polydl_shuffled
#if defined(__clang__) || __GNUC__ >= 12
#define polydl_shuffled(kind, one, two, ...) __builtin_shufflevector(one, two, __VA_ARGS__)
#else
#define polydl_shuffled(kind, one, two, ...) __builtin_shuffle(one, two, (kind){__VA_ARGS__})
#endif
#endif
static inline void polydl_image_S1_take_16(const float *from, float *strip, int length, int there)
{
  int x = 0;
  typedef int numbers __attribute__((vector_size(64), unused));
  for (; x + 16 <= there; x += 16) {
    polydl_image_S1_vector_16 r0 = *(const polydl_image_S1_vector_16 *)(from + x + 0 * 240L);
    polydl_image_S1_vector_16 r1 = *(const polydl_image_S1_vector_16 *)(from + x + 1 * 240L);
    polydl_image_S1_vector_16 r2 = *(const polydl_image_S1_vector_16 *)(from + x + 2 * 240L);
    polydl_image_S1_vector_16 r3 = *(const polydl_image_S1_vector_16 *)(from + x + 3 * 240L);
    polydl_image_S1_vector_16 r4 = *(const polydl_image_S1_vector_16 *)(from + x + 4 * 240L);
    polydl_image_S1_vector_16 r5 = *(const polydl_image_S1_vector_16 *)(from + x + 5 * 240L);
    polydl_image_S1_vector_16 r6 = *(const polydl_image_S1_vector_16 *)(from + x + 6 * 240L);
    polydl_image_S1_vector_16 r7 = *(const polydl_image_S1_vector_16 *)(from + x + 7 * 240L);
    polydl_image_S1_vector_16 r8 = *(const polydl_image_S1_vector_16 *)(from + x + 8 * 240L);
    polydl_image_S1_vector_16 r9 = *(const polydl_image_S1_vector_16 *)(from + x + 9 * 240L);
    polydl_image_S1_vector_16 r10 = *(const polydl_image_S1_vector_16 *)(from + x + 10 * 240L);
    polydl_image_S1_vector_16 r11 = *(const polydl_image_S1_vector_16 *)(from + x + 11 * 240L);
    polydl_image_S1_vector_16 r12 = *(const polydl_image_S1_vector_16 *)(from + x + 12 * 240L);
    polydl_image_S1_vector_16 r13 = *(const polydl_image_S1_vector_16 *)(from + x + 13 * 240L);
    polydl_image_S1_vector_16 r14 = *(const polydl_image_S1_vector_16 *)(from + x + 14 * 240L);
    polydl_image_S1_vector_16 r15 = *(const polydl_image_S1_vector_16 *)(from + x + 15 * 240L);
    { const polydl_image_S1_vector_16 a = r0, b = r8;
      r0 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r8 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_image_S1_vector_16 a = r1, b = r9;
      r1 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r9 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_image_S1_vector_16 a = r2, b = r10;
      r2 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r10 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_image_S1_vector_16 a = r3, b = r11;
      r3 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r11 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_image_S1_vector_16 a = r4, b = r12;
      r4 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r12 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_image_S1_vector_16 a = r5, b = r13;
      r5 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r13 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_image_S1_vector_16 a = r6, b = r14;
      r6 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r14 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_image_S1_vector_16 a = r7, b = r15;
      r7 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r15 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_image_S1_vector_16 a = r0, b = r4;
      r0 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r4 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_image_S1_vector_16 a = r1, b = r5;
      r1 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r5 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_image_S1_vector_16 a = r2, b = r6;
      r2 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r6 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_image_S1_vector_16 a = r3, b = r7;
      r3 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r7 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_image_S1_vector_16 a = r8, b = r12;
      r8 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r12 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_image_S1_vector_16 a = r9, b = r13;
      r9 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r13 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_image_S1_vector_16 a = r10, b = r14;
      r10 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r14 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_image_S1_vector_16 a = r11, b = r15;
      r11 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r15 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_image_S1_vector_16 a = r0, b = r2;
      r0 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r2 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_image_S1_vector_16 a = r1, b = r3;
      r1 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r3 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_image_S1_vector_16 a = r4, b = r6;
      r4 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r6 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_image_S1_vector_16 a = r5, b = r7;
      r5 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r7 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_image_S1_vector_16 a = r8, b = r10;
      r8 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r10 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_image_S1_vector_16 a = r9, b = r11;
      r9 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r11 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_image_S1_vector_16 a = r12, b = r14;
      r12 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r14 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_image_S1_vector_16 a = r13, b = r15;
      r13 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r15 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_image_S1_vector_16 a = r0, b = r1;
      r0 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r1 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_image_S1_vector_16 a = r2, b = r3;
      r2 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r3 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_image_S1_vector_16 a = r4, b = r5;
      r4 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r5 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_image_S1_vector_16 a = r6, b = r7;
      r6 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r7 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_image_S1_vector_16 a = r8, b = r9;
      r8 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r9 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_image_S1_vector_16 a = r10, b = r11;
      r10 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r11 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_image_S1_vector_16 a = r12, b = r13;
      r12 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r13 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_image_S1_vector_16 a = r14, b = r15;
      r14 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r15 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    *(polydl_image_S1_vector_16 *)(strip + (x + 0) * 16) = r0;
    *(polydl_image_S1_vector_16 *)(strip + (x + 1) * 16) = r1;
    *(polydl_image_S1_vector_16 *)(strip + (x + 2) * 16) = r2;
    *(polydl_image_S1_vector_16 *)(strip + (x + 3) * 16) = r3;
    *(polydl_image_S1_vector_16 *)(strip + (x + 4) * 16) = r4;
    *(polydl_image_S1_vector_16 *)(strip + (x + 5) * 16) = r5;
    *(polydl_image_S1_vector_16 *)(strip + (x + 6) * 16) = r6;
    *(polydl_image_S1_vector_16 *)(strip + (x + 7) * 16) = r7;
    *(polydl_image_S1_vector_16 *)(strip + (x + 8) * 16) = r8;
    *(polydl_image_S1_vector_16 *)(strip + (x + 9) * 16) = r9;
    *(polydl_image_S1_vector_16 *)(strip + (x + 10) * 16) = r10;
    *(polydl_image_S1_vector_16 *)(strip + (x + 11) * 16) = r11;
    *(polydl_image_S1_vector_16 *)(strip + (x + 12) * 16) = r12;
    *(polydl_image_S1_vector_16 *)(strip + (x + 13) * 16) = r13;
    *(polydl_image_S1_vector_16 *)(strip + (x + 14) * 16) = r14;
    *(polydl_image_S1_vector_16 *)(strip + (x + 15) * 16) = r15;
  }
  for (; x < there; ++x)
    for (int i = 0; i < 16; ++i)
      strip[x * 16 + i] = from[x + i * 240L];
  for (; x < length; ++x)
    for (int i = 0; i < 16; ++i)
      strip[x * 16 + i] = 0;
}
static void polydl_image_S1(const float *restrict from, float *restrict to, int left1)
{
  for (int lane = 0; lane < 16; lane += 16) {
    float strip[1024] __attribute__((aligned(64)));
    for (int tile = 0; tile < 7; tile += 7) {
      const int count = 7 - tile < 7 ? 7 - tile : 7;
      const int length = (count - 1) * 2 + 4;
      for (int at0 = 0; at0 < 4; ++at0)
        polydl_image_S1_take_16(from + lane * 240L + tile * 2L + at0 * 15L, strip + (1 * at0) * 256, length, (left1 - tile * 2 < length ? left1 - tile * 2 : length));
      for (int at = 0; at < count; ++at)
        polydl_image_S1_by_16(strip + at * 32, to + lane + (tile + at) * 16L, 256, 16, 3136, 784);
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
#ifndef polydl_shuffled
#if defined(__clang__) || __GNUC__ >= 12
#define polydl_shuffled(kind, one, two, ...) __builtin_shufflevector(one, two, __VA_ARGS__)
#else
#define polydl_shuffled(kind, one, two, ...) __builtin_shuffle(one, two, (kind){__VA_ARGS__})
#endif
#endif
static inline void polydl_filter_S1_take_16(const float *from, float *strip, int length, int there)
{
  int x = 0;
  typedef int numbers __attribute__((vector_size(64), unused));
  for (; x + 16 <= there; x += 16) {
    polydl_filter_S1_vector_16 r0 = *(const polydl_filter_S1_vector_16 *)(from + x + 0 * 144L);
    polydl_filter_S1_vector_16 r1 = *(const polydl_filter_S1_vector_16 *)(from + x + 1 * 144L);
    polydl_filter_S1_vector_16 r2 = *(const polydl_filter_S1_vector_16 *)(from + x + 2 * 144L);
    polydl_filter_S1_vector_16 r3 = *(const polydl_filter_S1_vector_16 *)(from + x + 3 * 144L);
    polydl_filter_S1_vector_16 r4 = *(const polydl_filter_S1_vector_16 *)(from + x + 4 * 144L);
    polydl_filter_S1_vector_16 r5 = *(const polydl_filter_S1_vector_16 *)(from + x + 5 * 144L);
    polydl_filter_S1_vector_16 r6 = *(const polydl_filter_S1_vector_16 *)(from + x + 6 * 144L);
    polydl_filter_S1_vector_16 r7 = *(const polydl_filter_S1_vector_16 *)(from + x + 7 * 144L);
    polydl_filter_S1_vector_16 r8 = *(const polydl_filter_S1_vector_16 *)(from + x + 8 * 144L);
    polydl_filter_S1_vector_16 r9 = *(const polydl_filter_S1_vector_16 *)(from + x + 9 * 144L);
    polydl_filter_S1_vector_16 r10 = *(const polydl_filter_S1_vector_16 *)(from + x + 10 * 144L);
    polydl_filter_S1_vector_16 r11 = *(const polydl_filter_S1_vector_16 *)(from + x + 11 * 144L);
    polydl_filter_S1_vector_16 r12 = *(const polydl_filter_S1_vector_16 *)(from + x + 12 * 144L);
    polydl_filter_S1_vector_16 r13 = *(const polydl_filter_S1_vector_16 *)(from + x + 13 * 144L);
    polydl_filter_S1_vector_16 r14 = *(const polydl_filter_S1_vector_16 *)(from + x + 14 * 144L);
    polydl_filter_S1_vector_16 r15 = *(const polydl_filter_S1_vector_16 *)(from + x + 15 * 144L);
    { const polydl_filter_S1_vector_16 a = r0, b = r8;
      r0 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r8 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_filter_S1_vector_16 a = r1, b = r9;
      r1 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r9 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_filter_S1_vector_16 a = r2, b = r10;
      r2 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r10 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_filter_S1_vector_16 a = r3, b = r11;
      r3 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r11 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_filter_S1_vector_16 a = r4, b = r12;
      r4 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r12 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_filter_S1_vector_16 a = r5, b = r13;
      r5 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r13 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_filter_S1_vector_16 a = r6, b = r14;
      r6 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r14 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_filter_S1_vector_16 a = r7, b = r15;
      r7 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r15 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_filter_S1_vector_16 a = r0, b = r4;
      r0 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r4 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_filter_S1_vector_16 a = r1, b = r5;
      r1 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r5 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_filter_S1_vector_16 a = r2, b = r6;
      r2 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r6 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_filter_S1_vector_16 a = r3, b = r7;
      r3 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r7 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_filter_S1_vector_16 a = r8, b = r12;
      r8 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r12 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_filter_S1_vector_16 a = r9, b = r13;
      r9 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r13 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_filter_S1_vector_16 a = r10, b = r14;
      r10 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r14 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_filter_S1_vector_16 a = r11, b = r15;
      r11 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r15 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_filter_S1_vector_16 a = r0, b = r2;
      r0 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r2 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_filter_S1_vector_16 a = r1, b = r3;
      r1 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r3 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_filter_S1_vector_16 a = r4, b = r6;
      r4 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r6 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_filter_S1_vector_16 a = r5, b = r7;
      r5 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r7 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_filter_S1_vector_16 a = r8, b = r10;
      r8 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r10 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_filter_S1_vector_16 a = r9, b = r11;
      r9 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r11 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_filter_S1_vector_16 a = r12, b = r14;
      r12 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r14 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_filter_S1_vector_16 a = r13, b = r15;
      r13 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r15 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_filter_S1_vector_16 a = r0, b = r1;
      r0 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r1 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_filter_S1_vector_16 a = r2, b = r3;
      r2 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r3 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_filter_S1_vector_16 a = r4, b = r5;
      r4 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r5 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_filter_S1_vector_16 a = r6, b = r7;
      r6 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r7 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_filter_S1_vector_16 a = r8, b = r9;
      r8 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r9 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_filter_S1_vector_16 a = r10, b = r11;
      r10 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r11 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_filter_S1_vector_16 a = r12, b = r13;
      r12 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r13 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_filter_S1_vector_16 a = r14, b = r15;
      r14 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r15 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    *(polydl_filter_S1_vector_16 *)(strip + (x + 0) * 16) = r0;
    *(polydl_filter_S1_vector_16 *)(strip + (x + 1) * 16) = r1;
    *(polydl_filter_S1_vector_16 *)(strip + (x + 2) * 16) = r2;
    *(polydl_filter_S1_vector_16 *)(strip + (x + 3) * 16) = r3;
    *(polydl_filter_S1_vector_16 *)(strip + (x + 4) * 16) = r4;
    *(polydl_filter_S1_vector_16 *)(strip + (x + 5) * 16) = r5;
    *(polydl_filter_S1_vector_16 *)(strip + (x + 6) * 16) = r6;
    *(polydl_filter_S1_vector_16 *)(strip + (x + 7) * 16) = r7;
    *(polydl_filter_S1_vector_16 *)(strip + (x + 8) * 16) = r8;
    *(polydl_filter_S1_vector_16 *)(strip + (x + 9) * 16) = r9;
    *(polydl_filter_S1_vector_16 *)(strip + (x + 10) * 16) = r10;
    *(polydl_filter_S1_vector_16 *)(strip + (x + 11) * 16) = r11;
    *(polydl_filter_S1_vector_16 *)(strip + (x + 12) * 16) = r12;
    *(polydl_filter_S1_vector_16 *)(strip + (x + 13) * 16) = r13;
    *(polydl_filter_S1_vector_16 *)(strip + (x + 14) * 16) = r14;
    *(polydl_filter_S1_vector_16 *)(strip + (x + 15) * 16) = r15;
  }
  for (; x < there; ++x)
    for (int i = 0; i < 16; ++i)
      strip[x * 16 + i] = from[x + i * 144L];
  for (; x < length; ++x)
    for (int i = 0; i < 16; ++i)
      strip[x * 16 + i] = 0;
}
static void polydl_filter_S1(const float *restrict from, float *restrict to)
{
  for (int lane = 0; lane < 32; lane += 16) {
    float strip[2304] __attribute__((aligned(64)));
    for (int tile = 0; tile < 16; tile += 16) {
      const int count = 16 - tile < 16 ? 16 - tile : 16;
      const int length = (count - 1) * 9 + 9;
        polydl_filter_S1_take_16(from + lane * 144L + tile * 9L, strip + (0) * 2304, length, length);
      for (int at = 0; at < count; ++at)
        polydl_filter_S1_by_16(strip + at * 144, to + lane + (tile + at) * 32L, 48, 16, 2048, 512);
    }
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
#ifndef polydl_shuffled
#if defined(__clang__) || __GNUC__ >= 12
#define polydl_shuffled(kind, one, two, ...) __builtin_shufflevector(one, two, __VA_ARGS__)
#else
#define polydl_shuffled(kind, one, two, ...) __builtin_shuffle(one, two, (kind){__VA_ARGS__})
#endif
#endif
static inline void polydl_result_S1_put_16(const float *strip, float *to, int there)
{
  int x = 0;
  typedef int numbers __attribute__((vector_size(64), unused));
  for (; x + 16 <= there; x += 16) {
    polydl_result_S1_vector_16 r0 = *(const polydl_result_S1_vector_16 *)(strip + (x + 0) * 16);
    polydl_result_S1_vector_16 r1 = *(const polydl_result_S1_vector_16 *)(strip + (x + 1) * 16);
    polydl_result_S1_vector_16 r2 = *(const polydl_result_S1_vector_16 *)(strip + (x + 2) * 16);
    polydl_result_S1_vector_16 r3 = *(const polydl_result_S1_vector_16 *)(strip + (x + 3) * 16);
    polydl_result_S1_vector_16 r4 = *(const polydl_result_S1_vector_16 *)(strip + (x + 4) * 16);
    polydl_result_S1_vector_16 r5 = *(const polydl_result_S1_vector_16 *)(strip + (x + 5) * 16);
    polydl_result_S1_vector_16 r6 = *(const polydl_result_S1_vector_16 *)(strip + (x + 6) * 16);
    polydl_result_S1_vector_16 r7 = *(const polydl_result_S1_vector_16 *)(strip + (x + 7) * 16);
    polydl_result_S1_vector_16 r8 = *(const polydl_result_S1_vector_16 *)(strip + (x + 8) * 16);
    polydl_result_S1_vector_16 r9 = *(const polydl_result_S1_vector_16 *)(strip + (x + 9) * 16);
    polydl_result_S1_vector_16 r10 = *(const polydl_result_S1_vector_16 *)(strip + (x + 10) * 16);
    polydl_result_S1_vector_16 r11 = *(const polydl_result_S1_vector_16 *)(strip + (x + 11) * 16);
    polydl_result_S1_vector_16 r12 = *(const polydl_result_S1_vector_16 *)(strip + (x + 12) * 16);
    polydl_result_S1_vector_16 r13 = *(const polydl_result_S1_vector_16 *)(strip + (x + 13) * 16);
    polydl_result_S1_vector_16 r14 = *(const polydl_result_S1_vector_16 *)(strip + (x + 14) * 16);
    polydl_result_S1_vector_16 r15 = *(const polydl_result_S1_vector_16 *)(strip + (x + 15) * 16);
    { const polydl_result_S1_vector_16 a = r0, b = r8;
      r0 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r8 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_result_S1_vector_16 a = r1, b = r9;
      r1 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r9 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_result_S1_vector_16 a = r2, b = r10;
      r2 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r10 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_result_S1_vector_16 a = r3, b = r11;
      r3 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r11 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_result_S1_vector_16 a = r4, b = r12;
      r4 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r12 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_result_S1_vector_16 a = r5, b = r13;
      r5 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r13 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_result_S1_vector_16 a = r6, b = r14;
      r6 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r14 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_result_S1_vector_16 a = r7, b = r15;
      r7 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
      r15 = polydl_shuffled(numbers, a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31); }
    { const polydl_result_S1_vector_16 a = r0, b = r4;
      r0 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r4 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_result_S1_vector_16 a = r1, b = r5;
      r1 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r5 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_result_S1_vector_16 a = r2, b = r6;
      r2 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r6 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_result_S1_vector_16 a = r3, b = r7;
      r3 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r7 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_result_S1_vector_16 a = r8, b = r12;
      r8 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r12 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_result_S1_vector_16 a = r9, b = r13;
      r9 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r13 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_result_S1_vector_16 a = r10, b = r14;
      r10 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r14 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_result_S1_vector_16 a = r11, b = r15;
      r11 = polydl_shuffled(numbers, a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
      r15 = polydl_shuffled(numbers, a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31); }
    { const polydl_result_S1_vector_16 a = r0, b = r2;
      r0 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r2 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_result_S1_vector_16 a = r1, b = r3;
      r1 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r3 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_result_S1_vector_16 a = r4, b = r6;
      r4 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r6 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_result_S1_vector_16 a = r5, b = r7;
      r5 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r7 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_result_S1_vector_16 a = r8, b = r10;
      r8 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r10 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_result_S1_vector_16 a = r9, b = r11;
      r9 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r11 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_result_S1_vector_16 a = r12, b = r14;
      r12 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r14 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_result_S1_vector_16 a = r13, b = r15;
      r13 = polydl_shuffled(numbers, a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
      r15 = polydl_shuffled(numbers, a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31); }
    { const polydl_result_S1_vector_16 a = r0, b = r1;
      r0 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r1 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_result_S1_vector_16 a = r2, b = r3;
      r2 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r3 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_result_S1_vector_16 a = r4, b = r5;
      r4 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r5 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_result_S1_vector_16 a = r6, b = r7;
      r6 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r7 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_result_S1_vector_16 a = r8, b = r9;
      r8 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r9 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_result_S1_vector_16 a = r10, b = r11;
      r10 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r11 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_result_S1_vector_16 a = r12, b = r13;
      r12 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r13 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    { const polydl_result_S1_vector_16 a = r14, b = r15;
      r14 = polydl_shuffled(numbers, a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
      r15 = polydl_shuffled(numbers, a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31); }
    *(polydl_result_S1_vector_16 *)(to + x + 0 * 182L) = r0;
    *(polydl_result_S1_vector_16 *)(to + x + 1 * 182L) = r1;
    *(polydl_result_S1_vector_16 *)(to + x + 2 * 182L) = r2;
    *(polydl_result_S1_vector_16 *)(to + x + 3 * 182L) = r3;
    *(polydl_result_S1_vector_16 *)(to + x + 4 * 182L) = r4;
    *(polydl_result_S1_vector_16 *)(to + x + 5 * 182L) = r5;
    *(polydl_result_S1_vector_16 *)(to + x + 6 * 182L) = r6;
    *(polydl_result_S1_vector_16 *)(to + x + 7 * 182L) = r7;
    *(polydl_result_S1_vector_16 *)(to + x + 8 * 182L) = r8;
    *(polydl_result_S1_vector_16 *)(to + x + 9 * 182L) = r9;
    *(polydl_result_S1_vector_16 *)(to + x + 10 * 182L) = r10;
    *(polydl_result_S1_vector_16 *)(to + x + 11 * 182L) = r11;
    *(polydl_result_S1_vector_16 *)(to + x + 12 * 182L) = r12;
    *(polydl_result_S1_vector_16 *)(to + x + 13 * 182L) = r13;
    *(polydl_result_S1_vector_16 *)(to + x + 14 * 182L) = r14;
    *(polydl_result_S1_vector_16 *)(to + x + 15 * 182L) = r15;
  }
  for (; x < there; ++x)
    for (int i = 0; i < 16; ++i)
      to[x + i * 182L] = strip[x * 16 + i];
}
static void polydl_result_S1(const float *restrict from, float *restrict to, int left1)
{
  for (int lane = 0; lane < 32; lane += 16) {
    float strip[448] __attribute__((aligned(64)));
    for (int tile = 0; tile < 7; tile += 7) {
      const int count = 7 - tile < 7 ? 7 - tile : 7;
      const int length = (count - 1) * 2 + 2;
      for (int at = 0; at < count; ++at)
        polydl_result_S1_by_16(from + lane + (tile + at) * 32L, strip + at * 32, 6272, 1568, 224, 16);
      for (int at0 = 0; at0 < 2; ++at0)
        polydl_result_S1_put_16(strip + (1 * at0) * 224, to + lane * 182L + tile * 2L + at0 * 13L, (left1 - tile * 2 < length ? left1 - tile * 2 : length));
    }
  }
}

/* A convolution that keeps the size of the image: a condition finds out what lies beyond the border. */
#define conv_same polydl_tuned_conv_same
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void conv_same(float output[1][32][14][13], const float weights[32][16][3][3], const float input[1][16][14][13])
{
  if (polydl_reserve()) {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    float input_padded[1][16][16][15] __attribute__((aligned(64)));
    float (*input_padded_points)[49][16] = polydl_kept(0);
    float (*weights_points)[16][32] = polydl_kept(1);
    float (*output_points)[49][32] = polydl_kept(2);
    #pragma omp parallel for
    for (int input_padded_1 = 0; input_padded_1 <= 15; ++input_padded_1) {
      for (int input_padded_2 = 0; input_padded_2 <= 15; ++input_padded_2) {
        if ((input_padded_2 >= 1) && (input_padded_2 <= 14)) {
          input_padded[0][input_padded_1][input_padded_2][0] = 0.0f;
          input_padded[0][input_padded_1][input_padded_2][14] = 0.0f;
        } else if (input_padded_2 == 15) {
          #pragma omp simd
          for (int input_padded_3 = 0; input_padded_3 <= 14; ++input_padded_3) {
            input_padded[0][input_padded_1][15][input_padded_3] = 0.0f;
          }
        } else {
          #pragma omp simd
          for (int input_padded_3 = 0; input_padded_3 <= 14; ++input_padded_3) {
            input_padded[0][input_padded_1][0][input_padded_3] = 0.0f;
          }
        }
      }
    }
    polydl_between();
    #pragma omp parallel for
    for (int input_1 = 0; input_1 <= 15; ++input_1) {
      for (int input_2 = 0; input_2 <= 13; ++input_2) {
        #pragma omp simd
        for (int input_3 = 0; input_3 <= 12; ++input_3) {
          input_padded[0][input_1][input_2 + 1][input_3 + 1] = input[0][input_1][input_2][input_3];
        }
      }
    }
    polydl_between();
    #pragma omp parallel for
    for (int y = 0; y <= 6; ++y) {
      polydl_image_S1(&input_padded[0][0][2 * y][0], &input_padded_points[0][7 * y][0], 15);
    }
    polydl_filter_S1(&weights[0][0][0][0], &weights_points[0][0][0]);
    polydl_between();
    #pragma omp parallel for collapse(2)
    for (int column_t1 = 0; column_t1 <= 6; ++column_t1) {
      for (int point = 0; point <= 15; ++point) {
        polydl_gemm5_run(&weights_points[point][0][0], &input_padded_points[point][7 * column_t1][0], &output_points[point][7 * column_t1][0], 0, 0, 0, 1, 0 == 0);
      }
    }
    polydl_between();
    #pragma omp parallel for
    for (int y = 0; y <= 6; ++y) {
      polydl_result_S1(&output_points[0][7 * y][0], &output[0][0][2 * y][0], 13);
    }
    polydl_end(&polydl_call);
    polydl_leave();
  } else {
  for (int n = 0; n < 1; ++n)
    for (int k = 0; k < 32; ++k)
      for (int y = 0; y < 14; ++y)
        for (int x = 0; x < 13; ++x) {
          output[n][k][y][x] = 0.0f;
          for (int c = 0; c < 16; ++c)
            for (int r = 0; r < 3; ++r)
              for (int s = 0; s < 3; ++s) {
                int row = y + r - 1;
                int column = x + s - 1;
                if (row >= 0 && row < 14 && column >= 0 && column < 13)
                  output[n][k][y][x] += weights[k][c][r][s] * input[n][c][row][column];
              }
        }
  }
}
#undef conv_same

/* for all processors */
void conv_same(float output[1][32][14][13], const float weights[32][16][3][3], const float input[1][16][14][13])
{
  if (polydl_fits()) {
    polydl_tuned_conv_same(output, weights, input);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int n = 0; n < 1; ++n)
    for (int k = 0; k < 32; ++k)
      for (int y = 0; y < 14; ++y)
        for (int x = 0; x < 13; ++x) {
          output[n][k][y][x] = 0.0f;
          for (int c = 0; c < 16; ++c)
            for (int r = 0; r < 3; ++r)
              for (int s = 0; s < 3; ++s) {
                int row = y + r - 1;
                int column = x + s - 1;
                if (row >= 0 && row < 14 && column >= 0 && column < 13)
                  output[n][k][y][x] += weights[k][c][r][s] * input[n][c][row][column];
              }
        }
#endif
}
void conv_same_release(void);
void conv_same_release(void)
{
  if (polydl_enter()) {
    polydl_drop();
    polydl_leave();
  }
}
const char *conv_same_missing(void);
const char *conv_same_missing(void)
{
  return polydl_missing();
}
/* for this one */
