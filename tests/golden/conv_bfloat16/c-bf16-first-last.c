#include <stddef.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#pragma GCC diagnostic ignored "-Wunused-variable"

/* processor */
/* Of a bfloat16. */
static inline float polydl_widen(unsigned short x)
{
  const union { unsigned int bits; float value; } wide = {(unsigned int)x << 16};
  return wide.value;
}
/* The nearest bfloat16, the even one of two. */
static inline unsigned short polydl_narrow(float x)
{
  const union { float value; unsigned int bits; } wide = {x};
  return (unsigned short)(x == x ? (wide.bits + 0x7fffu + ((wide.bits >> 16) & 1u)) >> 16 : wide.bits >> 16 | 0x40u);
}
#ifdef __AVX512BF16__
#include <immintrin.h>
#endif
/* Rounds floats to bfloat16s, and a bound in place of those that are less. The instructions, where there
   are some, take numbers below 1.2e-38 as zeros, and the second of two operands where one is no number. */
static inline void polydl_round_above(unsigned short *to, const float *from, long count, float least)
{
  long i = 0;
#if defined __AVX512BF16__ && defined __AVX512VL__
  const __m256 leasts = _mm256_set1_ps(least);
  for (; i + 16 <= count; i += 16)
    _mm256_storeu_si256((__m256i *)(to + i),
                        (__m256i)_mm256_cvtne2ps_pbh(_mm256_max_ps(leasts, _mm256_loadu_ps(from + i + 8)), _mm256_max_ps(leasts, _mm256_loadu_ps(from + i))));
#endif
  for (; i < count; ++i)
    to[i] = polydl_narrow(from[i] < least ? least : from[i]);
}
typedef unsigned short bfloat16;
enum { polydl_arrays = 1, polydl_reserved = 1 };
static const size_t polydl_sizes[polydl_arrays] = {25088};
/* kept memory */
struct polydl_gemm1_operands { bfloat16 *x0; const float *x1; const float *x2; const bfloat16 *x3; };
static inline __attribute__((always_inline, unused)) void polydl_gemm1_finished(const float *sums, bfloat16 *x0, const float *x1, const float *x2, const bfloat16 *x3, long rows)
{
  for (long part = 0; part < rows; part += 64) {
    const long last = (part + 64 < rows) ? (part + 64) : rows;
    _Alignas(64) float polydl_rounded[64];
    #pragma omp simd simdlen(16)
    for (long i = part; i < last; ++i) {
      float polydl_element = sums[i];
      const float polydl_value0 = (float)((polydl_element + x2[i]) + polydl_widen(x3[i]));
      polydl_rounded[i - part] = polydl_value0;
    }
    polydl_round_above(&x0[part], polydl_rounded, last - part, 0.0f);
  }
}
static inline __attribute__((always_inline, unused)) void polydl_gemm1_after_column(const struct polydl_gemm1_operands *operands, const float *sums, long first, long row, long rows)
{
  const long j = first;
  bfloat16 *x0 = operands->x0 + 64 * j + row;
  const float *x1 = operands->x1 + 64 * j + row;
  const float *x2 = operands->x2 + row;
  const bfloat16 *x3 = operands->x3 + 64 * j + row;
  polydl_gemm1_finished(sums, x0, x1, x2, x3, rows);
}
static inline void polydl_gemm1_after(const struct polydl_gemm1_operands *operands, const float *sums, long apart, long first, long columns, long row, long rows)
{
  while (columns > 0) {
    const long j = first;
    const long length = columns;
    bfloat16 *x0 = operands->x0 + 64 * j + row;
    const float *x1 = operands->x1 + 64 * j + row;
    const float *x2 = operands->x2 + row;
    const bfloat16 *x3 = operands->x3 + 64 * j + row;
    for (long column = 0; column < length; ++column, sums += apart, x0 += 64, x1 += 64, x3 += 64)
      polydl_gemm1_finished(sums, x0, x1, x2, x3, rows);
    first += length;
    columns -= length;
  }
}
static const long polydl_gemm1_offsets_a[36] = {0, 128, 256, 384, 512, 640, 768, 896, 1024, 1152, 1280, 1408, 1536, 1664, 1792, 1920, 2048, 2176, 2304, 2432, 2560, 2688, 2816, 2944, 3072, 3200, 3328, 3456, 3584, 3712, 3840, 3968, 0, 128, 256, 384};
static const long polydl_gemm1_offsets_b[32] = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62};
typedef float polydl_gemm1_vector16 __attribute__((vector_size(64), aligned(sizeof(float)), may_alias));
typedef int polydl_gemm1_groups16 __attribute__((vector_size(64), aligned(1), may_alias));
typedef int polydl_gemm1_group __attribute__((aligned(1), may_alias));
#if (defined __AVX512BF16__)
#include <immintrin.h>
#endif
static inline polydl_gemm1_vector16 polydl_gemm1_dot(polydl_gemm1_vector16 sum, polydl_gemm1_groups16 a, polydl_gemm1_groups16 b)
{
#if defined __AVX512BF16__
  return (polydl_gemm1_vector16)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b);
#else
  typedef unsigned int polydl_gemm1_bits16 __attribute__((vector_size(64)));
  const polydl_gemm1_bits16 low_a = (polydl_gemm1_bits16)a & 65535, low_b = (polydl_gemm1_bits16)b & 65535;
  const polydl_gemm1_bits16 high_a = (polydl_gemm1_bits16)a >> 16, high_b = (polydl_gemm1_bits16)b >> 16;
  sum += (polydl_gemm1_vector16)(high_a << 16) * (polydl_gemm1_vector16)(high_b << 16);
  return sum + (polydl_gemm1_vector16)(low_a << 16) * (polydl_gemm1_vector16)(low_b << 16);
#endif
}
static const long polydl_gemm1_starts0[13] = {0, 384, 768, 1152, 1536, 1920, 2304, 2688, 3072, 3456, 3840, 4224, 4608};
static const long polydl_gemm1_starts1[13] = {0, 6, 12, 18, 24, 30, 36, 42, 48, 54, 60, 66, 72};
static const long polydl_gemm1_starts2[4] = {4992, 5312, 5632, 5952};
static const long polydl_gemm1_starts3[4] = {78, 83, 88, 93};
static inline void polydl_gemm1_block0_4x6(const bfloat16 *a, const bfloat16 *b, float *c, long k, long count, int first, int last, const struct polydl_gemm1_operands *operands, long column, long row)
{
  polydl_gemm1_vector16 c0_0 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 0);
  polydl_gemm1_vector16 c1_0 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 16);
  polydl_gemm1_vector16 c2_0 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 32);
  polydl_gemm1_vector16 c3_0 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 48);
  polydl_gemm1_vector16 c0_1 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 64);
  polydl_gemm1_vector16 c1_1 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 80);
  polydl_gemm1_vector16 c2_1 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 96);
  polydl_gemm1_vector16 c3_1 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 112);
  polydl_gemm1_vector16 c0_2 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 128);
  polydl_gemm1_vector16 c1_2 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 144);
  polydl_gemm1_vector16 c2_2 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 160);
  polydl_gemm1_vector16 c3_2 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 176);
  polydl_gemm1_vector16 c0_3 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 192);
  polydl_gemm1_vector16 c1_3 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 208);
  polydl_gemm1_vector16 c2_3 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 224);
  polydl_gemm1_vector16 c3_3 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 240);
  polydl_gemm1_vector16 c0_4 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 256);
  polydl_gemm1_vector16 c1_4 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 272);
  polydl_gemm1_vector16 c2_4 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 288);
  polydl_gemm1_vector16 c3_4 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 304);
  polydl_gemm1_vector16 c0_5 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 320);
  polydl_gemm1_vector16 c1_5 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 336);
  polydl_gemm1_vector16 c2_5 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 352);
  polydl_gemm1_vector16 c3_5 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 368);
  for (long r = 0; r < count; r += 32) {
    const bfloat16 *ar = a + polydl_gemm1_offsets_a[r];
    const bfloat16 *br = b + polydl_gemm1_offsets_b[r];
    (void)k;
    for (long l = 0; l < 32; ++l) {
      const bfloat16 *al = ar + l * 128;
      const bfloat16 *bl = br + l * 2;
      __builtin_prefetch(al + (1024));
      __builtin_prefetch(al + (1056));
      __builtin_prefetch(al + (1088));
      __builtin_prefetch(al + (1120));
      const polydl_gemm1_groups16 a0 = *(const polydl_gemm1_groups16 *)(al + 0);
      const polydl_gemm1_groups16 a1 = *(const polydl_gemm1_groups16 *)(al + 32);
      const polydl_gemm1_groups16 a2 = *(const polydl_gemm1_groups16 *)(al + 64);
      const polydl_gemm1_groups16 a3 = *(const polydl_gemm1_groups16 *)(al + 96);
      const polydl_gemm1_groups16 b0 = *(const polydl_gemm1_group *)(bl + 0) + (polydl_gemm1_groups16){0};
      c0_0 = polydl_gemm1_dot(c0_0, a0, b0);
      c1_0 = polydl_gemm1_dot(c1_0, a1, b0);
      c2_0 = polydl_gemm1_dot(c2_0, a2, b0);
      c3_0 = polydl_gemm1_dot(c3_0, a3, b0);
      const polydl_gemm1_groups16 b1 = *(const polydl_gemm1_group *)(bl + 64) + (polydl_gemm1_groups16){0};
      c0_1 = polydl_gemm1_dot(c0_1, a0, b1);
      c1_1 = polydl_gemm1_dot(c1_1, a1, b1);
      c2_1 = polydl_gemm1_dot(c2_1, a2, b1);
      c3_1 = polydl_gemm1_dot(c3_1, a3, b1);
      const polydl_gemm1_groups16 b2 = *(const polydl_gemm1_group *)(bl + 128) + (polydl_gemm1_groups16){0};
      c0_2 = polydl_gemm1_dot(c0_2, a0, b2);
      c1_2 = polydl_gemm1_dot(c1_2, a1, b2);
      c2_2 = polydl_gemm1_dot(c2_2, a2, b2);
      c3_2 = polydl_gemm1_dot(c3_2, a3, b2);
      const polydl_gemm1_groups16 b3 = *(const polydl_gemm1_group *)(bl + 192) + (polydl_gemm1_groups16){0};
      c0_3 = polydl_gemm1_dot(c0_3, a0, b3);
      c1_3 = polydl_gemm1_dot(c1_3, a1, b3);
      c2_3 = polydl_gemm1_dot(c2_3, a2, b3);
      c3_3 = polydl_gemm1_dot(c3_3, a3, b3);
      const polydl_gemm1_groups16 b4 = *(const polydl_gemm1_group *)(bl + 256) + (polydl_gemm1_groups16){0};
      c0_4 = polydl_gemm1_dot(c0_4, a0, b4);
      c1_4 = polydl_gemm1_dot(c1_4, a1, b4);
      c2_4 = polydl_gemm1_dot(c2_4, a2, b4);
      c3_4 = polydl_gemm1_dot(c3_4, a3, b4);
      const polydl_gemm1_groups16 b5 = *(const polydl_gemm1_group *)(bl + 320) + (polydl_gemm1_groups16){0};
      c0_5 = polydl_gemm1_dot(c0_5, a0, b5);
      c1_5 = polydl_gemm1_dot(c1_5, a1, b5);
      c2_5 = polydl_gemm1_dot(c2_5, a2, b5);
      c3_5 = polydl_gemm1_dot(c3_5, a3, b5);
    }
  }
  if (last) {
    { float sums[32] __attribute__((aligned(64)));
      *(polydl_gemm1_vector16 *)sums = c0_0;
      *(polydl_gemm1_vector16 *)(sums + 16) = c1_0;
      polydl_gemm1_after_column(operands, sums, column + 0, row + 0, 32); }
    { float sums[32] __attribute__((aligned(64)));
      *(polydl_gemm1_vector16 *)sums = c2_0;
      *(polydl_gemm1_vector16 *)(sums + 16) = c3_0;
      polydl_gemm1_after_column(operands, sums, column + 0, row + 32, 32); }
    { float sums[32] __attribute__((aligned(64)));
      *(polydl_gemm1_vector16 *)sums = c0_1;
      *(polydl_gemm1_vector16 *)(sums + 16) = c1_1;
      polydl_gemm1_after_column(operands, sums, column + 1, row + 0, 32); }
    { float sums[32] __attribute__((aligned(64)));
      *(polydl_gemm1_vector16 *)sums = c2_1;
      *(polydl_gemm1_vector16 *)(sums + 16) = c3_1;
      polydl_gemm1_after_column(operands, sums, column + 1, row + 32, 32); }
    { float sums[32] __attribute__((aligned(64)));
      *(polydl_gemm1_vector16 *)sums = c0_2;
      *(polydl_gemm1_vector16 *)(sums + 16) = c1_2;
      polydl_gemm1_after_column(operands, sums, column + 2, row + 0, 32); }
    { float sums[32] __attribute__((aligned(64)));
      *(polydl_gemm1_vector16 *)sums = c2_2;
      *(polydl_gemm1_vector16 *)(sums + 16) = c3_2;
      polydl_gemm1_after_column(operands, sums, column + 2, row + 32, 32); }
    { float sums[32] __attribute__((aligned(64)));
      *(polydl_gemm1_vector16 *)sums = c0_3;
      *(polydl_gemm1_vector16 *)(sums + 16) = c1_3;
      polydl_gemm1_after_column(operands, sums, column + 3, row + 0, 32); }
    { float sums[32] __attribute__((aligned(64)));
      *(polydl_gemm1_vector16 *)sums = c2_3;
      *(polydl_gemm1_vector16 *)(sums + 16) = c3_3;
      polydl_gemm1_after_column(operands, sums, column + 3, row + 32, 32); }
    { float sums[32] __attribute__((aligned(64)));
      *(polydl_gemm1_vector16 *)sums = c0_4;
      *(polydl_gemm1_vector16 *)(sums + 16) = c1_4;
      polydl_gemm1_after_column(operands, sums, column + 4, row + 0, 32); }
    { float sums[32] __attribute__((aligned(64)));
      *(polydl_gemm1_vector16 *)sums = c2_4;
      *(polydl_gemm1_vector16 *)(sums + 16) = c3_4;
      polydl_gemm1_after_column(operands, sums, column + 4, row + 32, 32); }
    { float sums[32] __attribute__((aligned(64)));
      *(polydl_gemm1_vector16 *)sums = c0_5;
      *(polydl_gemm1_vector16 *)(sums + 16) = c1_5;
      polydl_gemm1_after_column(operands, sums, column + 5, row + 0, 32); }
    { float sums[32] __attribute__((aligned(64)));
      *(polydl_gemm1_vector16 *)sums = c2_5;
      *(polydl_gemm1_vector16 *)(sums + 16) = c3_5;
      polydl_gemm1_after_column(operands, sums, column + 5, row + 32, 32); }
    return;
  }
  *(polydl_gemm1_vector16 *)(c + 0) = c0_0;
  *(polydl_gemm1_vector16 *)(c + 16) = c1_0;
  *(polydl_gemm1_vector16 *)(c + 32) = c2_0;
  *(polydl_gemm1_vector16 *)(c + 48) = c3_0;
  *(polydl_gemm1_vector16 *)(c + 64) = c0_1;
  *(polydl_gemm1_vector16 *)(c + 80) = c1_1;
  *(polydl_gemm1_vector16 *)(c + 96) = c2_1;
  *(polydl_gemm1_vector16 *)(c + 112) = c3_1;
  *(polydl_gemm1_vector16 *)(c + 128) = c0_2;
  *(polydl_gemm1_vector16 *)(c + 144) = c1_2;
  *(polydl_gemm1_vector16 *)(c + 160) = c2_2;
  *(polydl_gemm1_vector16 *)(c + 176) = c3_2;
  *(polydl_gemm1_vector16 *)(c + 192) = c0_3;
  *(polydl_gemm1_vector16 *)(c + 208) = c1_3;
  *(polydl_gemm1_vector16 *)(c + 224) = c2_3;
  *(polydl_gemm1_vector16 *)(c + 240) = c3_3;
  *(polydl_gemm1_vector16 *)(c + 256) = c0_4;
  *(polydl_gemm1_vector16 *)(c + 272) = c1_4;
  *(polydl_gemm1_vector16 *)(c + 288) = c2_4;
  *(polydl_gemm1_vector16 *)(c + 304) = c3_4;
  *(polydl_gemm1_vector16 *)(c + 320) = c0_5;
  *(polydl_gemm1_vector16 *)(c + 336) = c1_5;
  *(polydl_gemm1_vector16 *)(c + 352) = c2_5;
  *(polydl_gemm1_vector16 *)(c + 368) = c3_5;
}
static inline void polydl_gemm1_block1_4x5(const bfloat16 *a, const bfloat16 *b, float *c, long k, long count, int first, int last, const struct polydl_gemm1_operands *operands, long column, long row)
{
  polydl_gemm1_vector16 c0_0 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 0);
  polydl_gemm1_vector16 c1_0 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 16);
  polydl_gemm1_vector16 c2_0 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 32);
  polydl_gemm1_vector16 c3_0 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 48);
  polydl_gemm1_vector16 c0_1 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 64);
  polydl_gemm1_vector16 c1_1 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 80);
  polydl_gemm1_vector16 c2_1 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 96);
  polydl_gemm1_vector16 c3_1 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 112);
  polydl_gemm1_vector16 c0_2 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 128);
  polydl_gemm1_vector16 c1_2 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 144);
  polydl_gemm1_vector16 c2_2 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 160);
  polydl_gemm1_vector16 c3_2 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 176);
  polydl_gemm1_vector16 c0_3 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 192);
  polydl_gemm1_vector16 c1_3 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 208);
  polydl_gemm1_vector16 c2_3 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 224);
  polydl_gemm1_vector16 c3_3 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 240);
  polydl_gemm1_vector16 c0_4 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 256);
  polydl_gemm1_vector16 c1_4 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 272);
  polydl_gemm1_vector16 c2_4 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 288);
  polydl_gemm1_vector16 c3_4 = first ? (polydl_gemm1_vector16){0} : *(polydl_gemm1_vector16 *)(c + 304);
  for (long r = 0; r < count; r += 32) {
    const bfloat16 *ar = a + polydl_gemm1_offsets_a[r];
    const bfloat16 *br = b + polydl_gemm1_offsets_b[r];
    (void)k;
    for (long l = 0; l < 32; ++l) {
      const bfloat16 *al = ar + l * 128;
      const bfloat16 *bl = br + l * 2;
      __builtin_prefetch(al + (1024));
      __builtin_prefetch(al + (1056));
      __builtin_prefetch(al + (1088));
      __builtin_prefetch(al + (1120));
      const polydl_gemm1_groups16 a0 = *(const polydl_gemm1_groups16 *)(al + 0);
      const polydl_gemm1_groups16 a1 = *(const polydl_gemm1_groups16 *)(al + 32);
      const polydl_gemm1_groups16 a2 = *(const polydl_gemm1_groups16 *)(al + 64);
      const polydl_gemm1_groups16 a3 = *(const polydl_gemm1_groups16 *)(al + 96);
      const polydl_gemm1_groups16 b0 = *(const polydl_gemm1_group *)(bl + 0) + (polydl_gemm1_groups16){0};
      c0_0 = polydl_gemm1_dot(c0_0, a0, b0);
      c1_0 = polydl_gemm1_dot(c1_0, a1, b0);
      c2_0 = polydl_gemm1_dot(c2_0, a2, b0);
      c3_0 = polydl_gemm1_dot(c3_0, a3, b0);
      const polydl_gemm1_groups16 b1 = *(const polydl_gemm1_group *)(bl + 64) + (polydl_gemm1_groups16){0};
      c0_1 = polydl_gemm1_dot(c0_1, a0, b1);
      c1_1 = polydl_gemm1_dot(c1_1, a1, b1);
      c2_1 = polydl_gemm1_dot(c2_1, a2, b1);
      c3_1 = polydl_gemm1_dot(c3_1, a3, b1);
      const polydl_gemm1_groups16 b2 = *(const polydl_gemm1_group *)(bl + 128) + (polydl_gemm1_groups16){0};
      c0_2 = polydl_gemm1_dot(c0_2, a0, b2);
      c1_2 = polydl_gemm1_dot(c1_2, a1, b2);
      c2_2 = polydl_gemm1_dot(c2_2, a2, b2);
      c3_2 = polydl_gemm1_dot(c3_2, a3, b2);
      const polydl_gemm1_groups16 b3 = *(const polydl_gemm1_group *)(bl + 192) + (polydl_gemm1_groups16){0};
      c0_3 = polydl_gemm1_dot(c0_3, a0, b3);
      c1_3 = polydl_gemm1_dot(c1_3, a1, b3);
      c2_3 = polydl_gemm1_dot(c2_3, a2, b3);
      c3_3 = polydl_gemm1_dot(c3_3, a3, b3);
      const polydl_gemm1_groups16 b4 = *(const polydl_gemm1_group *)(bl + 256) + (polydl_gemm1_groups16){0};
      c0_4 = polydl_gemm1_dot(c0_4, a0, b4);
      c1_4 = polydl_gemm1_dot(c1_4, a1, b4);
      c2_4 = polydl_gemm1_dot(c2_4, a2, b4);
      c3_4 = polydl_gemm1_dot(c3_4, a3, b4);
    }
  }
  if (last) {
    { float sums[32] __attribute__((aligned(64)));
      *(polydl_gemm1_vector16 *)sums = c0_0;
      *(polydl_gemm1_vector16 *)(sums + 16) = c1_0;
      polydl_gemm1_after_column(operands, sums, column + 0, row + 0, 32); }
    { float sums[32] __attribute__((aligned(64)));
      *(polydl_gemm1_vector16 *)sums = c2_0;
      *(polydl_gemm1_vector16 *)(sums + 16) = c3_0;
      polydl_gemm1_after_column(operands, sums, column + 0, row + 32, 32); }
    { float sums[32] __attribute__((aligned(64)));
      *(polydl_gemm1_vector16 *)sums = c0_1;
      *(polydl_gemm1_vector16 *)(sums + 16) = c1_1;
      polydl_gemm1_after_column(operands, sums, column + 1, row + 0, 32); }
    { float sums[32] __attribute__((aligned(64)));
      *(polydl_gemm1_vector16 *)sums = c2_1;
      *(polydl_gemm1_vector16 *)(sums + 16) = c3_1;
      polydl_gemm1_after_column(operands, sums, column + 1, row + 32, 32); }
    { float sums[32] __attribute__((aligned(64)));
      *(polydl_gemm1_vector16 *)sums = c0_2;
      *(polydl_gemm1_vector16 *)(sums + 16) = c1_2;
      polydl_gemm1_after_column(operands, sums, column + 2, row + 0, 32); }
    { float sums[32] __attribute__((aligned(64)));
      *(polydl_gemm1_vector16 *)sums = c2_2;
      *(polydl_gemm1_vector16 *)(sums + 16) = c3_2;
      polydl_gemm1_after_column(operands, sums, column + 2, row + 32, 32); }
    { float sums[32] __attribute__((aligned(64)));
      *(polydl_gemm1_vector16 *)sums = c0_3;
      *(polydl_gemm1_vector16 *)(sums + 16) = c1_3;
      polydl_gemm1_after_column(operands, sums, column + 3, row + 0, 32); }
    { float sums[32] __attribute__((aligned(64)));
      *(polydl_gemm1_vector16 *)sums = c2_3;
      *(polydl_gemm1_vector16 *)(sums + 16) = c3_3;
      polydl_gemm1_after_column(operands, sums, column + 3, row + 32, 32); }
    { float sums[32] __attribute__((aligned(64)));
      *(polydl_gemm1_vector16 *)sums = c0_4;
      *(polydl_gemm1_vector16 *)(sums + 16) = c1_4;
      polydl_gemm1_after_column(operands, sums, column + 4, row + 0, 32); }
    { float sums[32] __attribute__((aligned(64)));
      *(polydl_gemm1_vector16 *)sums = c2_4;
      *(polydl_gemm1_vector16 *)(sums + 16) = c3_4;
      polydl_gemm1_after_column(operands, sums, column + 4, row + 32, 32); }
    return;
  }
  *(polydl_gemm1_vector16 *)(c + 0) = c0_0;
  *(polydl_gemm1_vector16 *)(c + 16) = c1_0;
  *(polydl_gemm1_vector16 *)(c + 32) = c2_0;
  *(polydl_gemm1_vector16 *)(c + 48) = c3_0;
  *(polydl_gemm1_vector16 *)(c + 64) = c0_1;
  *(polydl_gemm1_vector16 *)(c + 80) = c1_1;
  *(polydl_gemm1_vector16 *)(c + 96) = c2_1;
  *(polydl_gemm1_vector16 *)(c + 112) = c3_1;
  *(polydl_gemm1_vector16 *)(c + 128) = c0_2;
  *(polydl_gemm1_vector16 *)(c + 144) = c1_2;
  *(polydl_gemm1_vector16 *)(c + 160) = c2_2;
  *(polydl_gemm1_vector16 *)(c + 176) = c3_2;
  *(polydl_gemm1_vector16 *)(c + 192) = c0_3;
  *(polydl_gemm1_vector16 *)(c + 208) = c1_3;
  *(polydl_gemm1_vector16 *)(c + 224) = c2_3;
  *(polydl_gemm1_vector16 *)(c + 240) = c3_3;
  *(polydl_gemm1_vector16 *)(c + 256) = c0_4;
  *(polydl_gemm1_vector16 *)(c + 272) = c1_4;
  *(polydl_gemm1_vector16 *)(c + 288) = c2_4;
  *(polydl_gemm1_vector16 *)(c + 304) = c3_4;
}
static void polydl_gemm1_run_000(const bfloat16 *a, const bfloat16 *b, float *c, long count, int first, int last, const struct polydl_gemm1_operands *operands)
{
  for (int i = 0; i < 13; ++i) {
    polydl_gemm1_block0_4x6(a + 0, b + polydl_gemm1_starts0[i], c + 0 + polydl_gemm1_starts0[i], 1, count, first, last, operands, polydl_gemm1_starts1[i], 0);
  }
  for (int i = 0; i < 4; ++i) {
    polydl_gemm1_block1_4x5(a + 0, b + polydl_gemm1_starts2[i], c + 0 + polydl_gemm1_starts2[i], 1, count, first, last, operands, polydl_gemm1_starts3[i], 0);
  }
}
static void polydl_gemm1_run(const bfloat16 *a, const bfloat16 *b, float *c, int last_m, int last_n, int last_k, long count, int first, int last, const struct polydl_gemm1_operands *operands)
{
  (void)last_m;
  (void)last_n;
  (void)last_k;
  if (1)
    polydl_gemm1_run_000(a, b, c, count, first, last, operands);
}

/* for all processors */
/* bfloat16 in C: the upper half of a float. Loop nests compute with floats, and convert what they read and write. */
#ifndef POLYDL_BFLOAT16_H
#define POLYDL_BFLOAT16_H

typedef unsigned short bfloat16;

/* Not `inline`, or pet would look for loops in these functions. Compilers inline them all the same. */
#ifdef __GNUC__
#define POLYDL_BFLOAT16_FUNCTION __attribute__((unused)) static
#else
#define POLYDL_BFLOAT16_FUNCTION static
#endif

/* Exact. */
POLYDL_BFLOAT16_FUNCTION float bfloat16_to_float(bfloat16 x)
{
  union { unsigned int bits; float value; } wide;
  wide.bits = (unsigned int)x << 16;
  return wide.value;
}

/* The nearest bfloat16, the even one of two; what is not a number stays that. */
POLYDL_BFLOAT16_FUNCTION bfloat16 float_to_bfloat16(float x)
{
  union { float value; unsigned int bits; } wide;
  wide.value = x;
  return (bfloat16)(x == x ? (wide.bits + 0x7fffu + ((wide.bits >> 16) & 1u)) >> 16 : wide.bits >> 16 | 0x40u);
}

#endif

#define K 64
#define C 64
#define N 14
/* for this one */
#define conv_bfloat16 polydl_tuned_conv_bfloat16
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void conv_bfloat16(bfloat16 output[N][N][K], const bfloat16 input[N][N][C / 2][2], const bfloat16 added[N][N][K],
                   const bfloat16 filter[C / 2][K][2], const float bias[K])
{
  if (polydl_reserve()) {
    float (*sum_of)[14][64] = polydl_kept(0);
    for (int y_t1 = 0; y_t1 <= 1; ++y_t1) {
      polydl_gemm1_run(&filter[0][0][0], &input[7 * y_t1][0][0][0], &sum_of[0][0][0], 0, 0, 0, 32, 1, 1, &(struct polydl_gemm1_operands){&output[7 * y_t1][0][0], &sum_of[0][0][0], &bias[0], &added[7 * y_t1][0][0]});
    }
    polydl_leave();
  } else {
  for (int y = 0; y < N; ++y)
    for (int x = 0; x < N; ++x)
      for (int k = 0; k < K; ++k) {
        float sum = 0.0f;
        for (int c = 0; c < C / 2; ++c)
          for (int q = 0; q < 2; ++q)
            sum += bfloat16_to_float(input[y][x][c][q]) * bfloat16_to_float(filter[c][k][q]);
        float value = sum + bias[k] + bfloat16_to_float(added[y][x][k]);
        output[y][x][k] = float_to_bfloat16(value < 0.0f ? 0.0f : value);
      }
  }
}
#undef conv_bfloat16

/* for all processors */
void conv_bfloat16(bfloat16 output[N][N][K], const bfloat16 input[N][N][C / 2][2], const bfloat16 added[N][N][K],
                   const bfloat16 filter[C / 2][K][2], const float bias[K])
{
  if (polydl_fits()) {
    polydl_tuned_conv_bfloat16(output, input, added, filter, bias);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int y = 0; y < N; ++y)
    for (int x = 0; x < N; ++x)
      for (int k = 0; k < K; ++k) {
        float sum = 0.0f;
        for (int c = 0; c < C / 2; ++c)
          for (int q = 0; q < 2; ++q)
            sum += bfloat16_to_float(input[y][x][c][q]) * bfloat16_to_float(filter[c][k][q]);
        float value = sum + bias[k] + bfloat16_to_float(added[y][x][k]);
        output[y][x][k] = float_to_bfloat16(value < 0.0f ? 0.0f : value);
      }
#endif
}
void conv_bfloat16_release(void);
void conv_bfloat16_release(void)
{
  if (polydl_enter()) {
    polydl_drop();
    polydl_leave();
  }
}
const char *conv_bfloat16_missing(void);
const char *conv_bfloat16_missing(void)
{
  return polydl_missing();
}
/* for this one */
