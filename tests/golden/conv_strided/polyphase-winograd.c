#include <stddef.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#pragma GCC diagnostic ignored "-Wunused-variable"

/* processor */
enum { polydl_arrays = 1, polydl_reserved = 1 };
static const size_t polydl_sizes[polydl_arrays] = {38400};
/* kept memory */
static const long polydl_gemm3_offsets_a[1] = {0};
static const long polydl_gemm3_offsets_b[1] = {0};
typedef float polydl_gemm3_vector8 __attribute__((vector_size(32), aligned(sizeof(float)), may_alias));
static const long polydl_gemm3_starts0[2] = {0, 48};
static const long polydl_gemm3_starts1[2] = {0, 72};
static inline void polydl_gemm3_block0_3x3(const float *a, const float *b, float *c, long k, long count, int first)
{
  polydl_gemm3_vector8 c0_0 = first ? (polydl_gemm3_vector8){0} : *(const polydl_gemm3_vector8 *)(c + 0);
  polydl_gemm3_vector8 c1_0 = first ? (polydl_gemm3_vector8){0} : *(const polydl_gemm3_vector8 *)(c + 8);
  polydl_gemm3_vector8 c2_0 = first ? (polydl_gemm3_vector8){0} : *(const polydl_gemm3_vector8 *)(c + 16);
  polydl_gemm3_vector8 c0_1 = first ? (polydl_gemm3_vector8){0} : *(const polydl_gemm3_vector8 *)(c + 24);
  polydl_gemm3_vector8 c1_1 = first ? (polydl_gemm3_vector8){0} : *(const polydl_gemm3_vector8 *)(c + 32);
  polydl_gemm3_vector8 c2_1 = first ? (polydl_gemm3_vector8){0} : *(const polydl_gemm3_vector8 *)(c + 40);
  polydl_gemm3_vector8 c0_2 = first ? (polydl_gemm3_vector8){0} : *(const polydl_gemm3_vector8 *)(c + 48);
  polydl_gemm3_vector8 c1_2 = first ? (polydl_gemm3_vector8){0} : *(const polydl_gemm3_vector8 *)(c + 56);
  polydl_gemm3_vector8 c2_2 = first ? (polydl_gemm3_vector8){0} : *(const polydl_gemm3_vector8 *)(c + 64);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm3_offsets_a[r];
    const float *br = b + polydl_gemm3_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 24 + 0);
      const polydl_gemm3_vector8 a0 = *(const polydl_gemm3_vector8 *)(ar + l * 24 + 0);
      const polydl_gemm3_vector8 a1 = *(const polydl_gemm3_vector8 *)(ar + l * 24 + 8);
      __builtin_prefetch(ar + (l + 8) * 24 + 16);
      const polydl_gemm3_vector8 a2 = *(const polydl_gemm3_vector8 *)(ar + l * 24 + 16);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0; c2_0 += a2 * b0;
      const float b1 = bl[16]; c0_1 += a0 * b1; c1_1 += a1 * b1; c2_1 += a2 * b1;
      const float b2 = bl[32]; c0_2 += a0 * b2; c1_2 += a1 * b2; c2_2 += a2 * b2;
    }
  }
  *(polydl_gemm3_vector8 *)(c + 0) = c0_0;
  *(polydl_gemm3_vector8 *)(c + 8) = c1_0;
  *(polydl_gemm3_vector8 *)(c + 16) = c2_0;
  *(polydl_gemm3_vector8 *)(c + 24) = c0_1;
  *(polydl_gemm3_vector8 *)(c + 32) = c1_1;
  *(polydl_gemm3_vector8 *)(c + 40) = c2_1;
  *(polydl_gemm3_vector8 *)(c + 48) = c0_2;
  *(polydl_gemm3_vector8 *)(c + 56) = c1_2;
  *(polydl_gemm3_vector8 *)(c + 64) = c2_2;
}
static void polydl_gemm3_run_000(const float *a, const float *b, float *c, long count, int first)
{
  for (int i = 0; i < 2; ++i) {
    polydl_gemm3_block0_3x3(a + 0, b + polydl_gemm3_starts0[i], c + 0 + polydl_gemm3_starts1[i], 16, count, first);
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
static const long polydl_gemm8_offsets_a[1] = {0};
static const long polydl_gemm8_offsets_b[1] = {0};
typedef float polydl_gemm8_vector8 __attribute__((vector_size(32), aligned(sizeof(float)), may_alias));
static const long polydl_gemm8_starts0[4] = {0, 64, 128, 192};
static const long polydl_gemm8_starts1[4] = {0, 96, 192, 288};
static const long polydl_gemm8_starts2[2] = {256, 304};
static const long polydl_gemm8_starts3[2] = {384, 456};
static inline void polydl_gemm8_block0_3x4(const float *a, const float *b, float *c, long k, long count, int first)
{
  polydl_gemm8_vector8 c0_0 = first ? (polydl_gemm8_vector8){0} : *(const polydl_gemm8_vector8 *)(c + 0);
  polydl_gemm8_vector8 c1_0 = first ? (polydl_gemm8_vector8){0} : *(const polydl_gemm8_vector8 *)(c + 8);
  polydl_gemm8_vector8 c2_0 = first ? (polydl_gemm8_vector8){0} : *(const polydl_gemm8_vector8 *)(c + 16);
  polydl_gemm8_vector8 c0_1 = first ? (polydl_gemm8_vector8){0} : *(const polydl_gemm8_vector8 *)(c + 24);
  polydl_gemm8_vector8 c1_1 = first ? (polydl_gemm8_vector8){0} : *(const polydl_gemm8_vector8 *)(c + 32);
  polydl_gemm8_vector8 c2_1 = first ? (polydl_gemm8_vector8){0} : *(const polydl_gemm8_vector8 *)(c + 40);
  polydl_gemm8_vector8 c0_2 = first ? (polydl_gemm8_vector8){0} : *(const polydl_gemm8_vector8 *)(c + 48);
  polydl_gemm8_vector8 c1_2 = first ? (polydl_gemm8_vector8){0} : *(const polydl_gemm8_vector8 *)(c + 56);
  polydl_gemm8_vector8 c2_2 = first ? (polydl_gemm8_vector8){0} : *(const polydl_gemm8_vector8 *)(c + 64);
  polydl_gemm8_vector8 c0_3 = first ? (polydl_gemm8_vector8){0} : *(const polydl_gemm8_vector8 *)(c + 72);
  polydl_gemm8_vector8 c1_3 = first ? (polydl_gemm8_vector8){0} : *(const polydl_gemm8_vector8 *)(c + 80);
  polydl_gemm8_vector8 c2_3 = first ? (polydl_gemm8_vector8){0} : *(const polydl_gemm8_vector8 *)(c + 88);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm8_offsets_a[r];
    const float *br = b + polydl_gemm8_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 24 + 0);
      const polydl_gemm8_vector8 a0 = *(const polydl_gemm8_vector8 *)(ar + l * 24 + 0);
      const polydl_gemm8_vector8 a1 = *(const polydl_gemm8_vector8 *)(ar + l * 24 + 8);
      __builtin_prefetch(ar + (l + 8) * 24 + 16);
      const polydl_gemm8_vector8 a2 = *(const polydl_gemm8_vector8 *)(ar + l * 24 + 16);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0; c2_0 += a2 * b0;
      const float b1 = bl[16]; c0_1 += a0 * b1; c1_1 += a1 * b1; c2_1 += a2 * b1;
      const float b2 = bl[32]; c0_2 += a0 * b2; c1_2 += a1 * b2; c2_2 += a2 * b2;
      const float b3 = bl[48]; c0_3 += a0 * b3; c1_3 += a1 * b3; c2_3 += a2 * b3;
    }
  }
  *(polydl_gemm8_vector8 *)(c + 0) = c0_0;
  *(polydl_gemm8_vector8 *)(c + 8) = c1_0;
  *(polydl_gemm8_vector8 *)(c + 16) = c2_0;
  *(polydl_gemm8_vector8 *)(c + 24) = c0_1;
  *(polydl_gemm8_vector8 *)(c + 32) = c1_1;
  *(polydl_gemm8_vector8 *)(c + 40) = c2_1;
  *(polydl_gemm8_vector8 *)(c + 48) = c0_2;
  *(polydl_gemm8_vector8 *)(c + 56) = c1_2;
  *(polydl_gemm8_vector8 *)(c + 64) = c2_2;
  *(polydl_gemm8_vector8 *)(c + 72) = c0_3;
  *(polydl_gemm8_vector8 *)(c + 80) = c1_3;
  *(polydl_gemm8_vector8 *)(c + 88) = c2_3;
}
static inline void polydl_gemm8_block1_3x3(const float *a, const float *b, float *c, long k, long count, int first)
{
  polydl_gemm8_vector8 c0_0 = first ? (polydl_gemm8_vector8){0} : *(const polydl_gemm8_vector8 *)(c + 0);
  polydl_gemm8_vector8 c1_0 = first ? (polydl_gemm8_vector8){0} : *(const polydl_gemm8_vector8 *)(c + 8);
  polydl_gemm8_vector8 c2_0 = first ? (polydl_gemm8_vector8){0} : *(const polydl_gemm8_vector8 *)(c + 16);
  polydl_gemm8_vector8 c0_1 = first ? (polydl_gemm8_vector8){0} : *(const polydl_gemm8_vector8 *)(c + 24);
  polydl_gemm8_vector8 c1_1 = first ? (polydl_gemm8_vector8){0} : *(const polydl_gemm8_vector8 *)(c + 32);
  polydl_gemm8_vector8 c2_1 = first ? (polydl_gemm8_vector8){0} : *(const polydl_gemm8_vector8 *)(c + 40);
  polydl_gemm8_vector8 c0_2 = first ? (polydl_gemm8_vector8){0} : *(const polydl_gemm8_vector8 *)(c + 48);
  polydl_gemm8_vector8 c1_2 = first ? (polydl_gemm8_vector8){0} : *(const polydl_gemm8_vector8 *)(c + 56);
  polydl_gemm8_vector8 c2_2 = first ? (polydl_gemm8_vector8){0} : *(const polydl_gemm8_vector8 *)(c + 64);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm8_offsets_a[r];
    const float *br = b + polydl_gemm8_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 24 + 0);
      const polydl_gemm8_vector8 a0 = *(const polydl_gemm8_vector8 *)(ar + l * 24 + 0);
      const polydl_gemm8_vector8 a1 = *(const polydl_gemm8_vector8 *)(ar + l * 24 + 8);
      __builtin_prefetch(ar + (l + 8) * 24 + 16);
      const polydl_gemm8_vector8 a2 = *(const polydl_gemm8_vector8 *)(ar + l * 24 + 16);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0; c2_0 += a2 * b0;
      const float b1 = bl[16]; c0_1 += a0 * b1; c1_1 += a1 * b1; c2_1 += a2 * b1;
      const float b2 = bl[32]; c0_2 += a0 * b2; c1_2 += a1 * b2; c2_2 += a2 * b2;
    }
  }
  *(polydl_gemm8_vector8 *)(c + 0) = c0_0;
  *(polydl_gemm8_vector8 *)(c + 8) = c1_0;
  *(polydl_gemm8_vector8 *)(c + 16) = c2_0;
  *(polydl_gemm8_vector8 *)(c + 24) = c0_1;
  *(polydl_gemm8_vector8 *)(c + 32) = c1_1;
  *(polydl_gemm8_vector8 *)(c + 40) = c2_1;
  *(polydl_gemm8_vector8 *)(c + 48) = c0_2;
  *(polydl_gemm8_vector8 *)(c + 56) = c1_2;
  *(polydl_gemm8_vector8 *)(c + 64) = c2_2;
}
static void polydl_gemm8_run_000(const float *a, const float *b, float *c, long count, int first)
{
  for (int i = 0; i < 4; ++i) {
    polydl_gemm8_block0_3x4(a + 0, b + polydl_gemm8_starts0[i], c + 0 + polydl_gemm8_starts1[i], 16, count, first);
  }
  for (int i = 0; i < 2; ++i) {
    polydl_gemm8_block1_3x3(a + 0, b + polydl_gemm8_starts2[i], c + 0 + polydl_gemm8_starts3[i], 16, count, first);
  }
}
static void polydl_gemm8_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  (void)last_m;
  (void)last_n;
  (void)last_k;
  if (1)
    polydl_gemm8_run_000(a, b, c, count, first);
}
static const long polydl_gemm13_offsets_a[1] = {0};
static const long polydl_gemm13_offsets_b[1] = {0};
typedef float polydl_gemm13_vector8 __attribute__((vector_size(32), aligned(sizeof(float)), may_alias));
static const long polydl_gemm13_starts0[6] = {0, 64, 128, 192, 256, 320};
static const long polydl_gemm13_starts1[6] = {0, 96, 192, 288, 384, 480};
static inline void polydl_gemm13_block0_3x4(const float *a, const float *b, float *c, long k, long count, int first)
{
  polydl_gemm13_vector8 c0_0 = first ? (polydl_gemm13_vector8){0} : *(const polydl_gemm13_vector8 *)(c + 0);
  polydl_gemm13_vector8 c1_0 = first ? (polydl_gemm13_vector8){0} : *(const polydl_gemm13_vector8 *)(c + 8);
  polydl_gemm13_vector8 c2_0 = first ? (polydl_gemm13_vector8){0} : *(const polydl_gemm13_vector8 *)(c + 16);
  polydl_gemm13_vector8 c0_1 = first ? (polydl_gemm13_vector8){0} : *(const polydl_gemm13_vector8 *)(c + 24);
  polydl_gemm13_vector8 c1_1 = first ? (polydl_gemm13_vector8){0} : *(const polydl_gemm13_vector8 *)(c + 32);
  polydl_gemm13_vector8 c2_1 = first ? (polydl_gemm13_vector8){0} : *(const polydl_gemm13_vector8 *)(c + 40);
  polydl_gemm13_vector8 c0_2 = first ? (polydl_gemm13_vector8){0} : *(const polydl_gemm13_vector8 *)(c + 48);
  polydl_gemm13_vector8 c1_2 = first ? (polydl_gemm13_vector8){0} : *(const polydl_gemm13_vector8 *)(c + 56);
  polydl_gemm13_vector8 c2_2 = first ? (polydl_gemm13_vector8){0} : *(const polydl_gemm13_vector8 *)(c + 64);
  polydl_gemm13_vector8 c0_3 = first ? (polydl_gemm13_vector8){0} : *(const polydl_gemm13_vector8 *)(c + 72);
  polydl_gemm13_vector8 c1_3 = first ? (polydl_gemm13_vector8){0} : *(const polydl_gemm13_vector8 *)(c + 80);
  polydl_gemm13_vector8 c2_3 = first ? (polydl_gemm13_vector8){0} : *(const polydl_gemm13_vector8 *)(c + 88);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm13_offsets_a[r];
    const float *br = b + polydl_gemm13_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 24 + 0);
      const polydl_gemm13_vector8 a0 = *(const polydl_gemm13_vector8 *)(ar + l * 24 + 0);
      const polydl_gemm13_vector8 a1 = *(const polydl_gemm13_vector8 *)(ar + l * 24 + 8);
      __builtin_prefetch(ar + (l + 8) * 24 + 16);
      const polydl_gemm13_vector8 a2 = *(const polydl_gemm13_vector8 *)(ar + l * 24 + 16);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0; c2_0 += a2 * b0;
      const float b1 = bl[16]; c0_1 += a0 * b1; c1_1 += a1 * b1; c2_1 += a2 * b1;
      const float b2 = bl[32]; c0_2 += a0 * b2; c1_2 += a1 * b2; c2_2 += a2 * b2;
      const float b3 = bl[48]; c0_3 += a0 * b3; c1_3 += a1 * b3; c2_3 += a2 * b3;
    }
  }
  *(polydl_gemm13_vector8 *)(c + 0) = c0_0;
  *(polydl_gemm13_vector8 *)(c + 8) = c1_0;
  *(polydl_gemm13_vector8 *)(c + 16) = c2_0;
  *(polydl_gemm13_vector8 *)(c + 24) = c0_1;
  *(polydl_gemm13_vector8 *)(c + 32) = c1_1;
  *(polydl_gemm13_vector8 *)(c + 40) = c2_1;
  *(polydl_gemm13_vector8 *)(c + 48) = c0_2;
  *(polydl_gemm13_vector8 *)(c + 56) = c1_2;
  *(polydl_gemm13_vector8 *)(c + 64) = c2_2;
  *(polydl_gemm13_vector8 *)(c + 72) = c0_3;
  *(polydl_gemm13_vector8 *)(c + 80) = c1_3;
  *(polydl_gemm13_vector8 *)(c + 88) = c2_3;
}
static void polydl_gemm13_run_000(const float *a, const float *b, float *c, long count, int first)
{
  for (int i = 0; i < 6; ++i) {
    polydl_gemm13_block0_3x4(a + 0, b + polydl_gemm13_starts0[i], c + 0 + polydl_gemm13_starts1[i], 16, count, first);
  }
}
static void polydl_gemm13_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  (void)last_m;
  (void)last_n;
  (void)last_k;
  if (1)
    polydl_gemm13_run_000(a, b, c, count, first);
}
static const long polydl_gemm15_offsets_a[1] = {0};
static const long polydl_gemm15_offsets_b[1] = {0};
typedef float polydl_gemm15_vector8 __attribute__((vector_size(32), aligned(sizeof(float)), may_alias));
static const long polydl_gemm15_starts0[8] = {0, 128, 768, 896, 1536, 1664, 2304, 2432};
static const long polydl_gemm15_starts1[8] = {0, 96, 288, 384, 576, 672, 864, 960};
static inline void polydl_gemm15_block0_3x4(const float *a, const float *b, float *c, long k, long count)
{
  polydl_gemm15_vector8 c0_0 = *(const polydl_gemm15_vector8 *)(c + 0);
  polydl_gemm15_vector8 c1_0 = *(const polydl_gemm15_vector8 *)(c + 8);
  polydl_gemm15_vector8 c2_0 = *(const polydl_gemm15_vector8 *)(c + 16);
  polydl_gemm15_vector8 c0_1 = *(const polydl_gemm15_vector8 *)(c + 24);
  polydl_gemm15_vector8 c1_1 = *(const polydl_gemm15_vector8 *)(c + 32);
  polydl_gemm15_vector8 c2_1 = *(const polydl_gemm15_vector8 *)(c + 40);
  polydl_gemm15_vector8 c0_2 = *(const polydl_gemm15_vector8 *)(c + 48);
  polydl_gemm15_vector8 c1_2 = *(const polydl_gemm15_vector8 *)(c + 56);
  polydl_gemm15_vector8 c2_2 = *(const polydl_gemm15_vector8 *)(c + 64);
  polydl_gemm15_vector8 c0_3 = *(const polydl_gemm15_vector8 *)(c + 72);
  polydl_gemm15_vector8 c1_3 = *(const polydl_gemm15_vector8 *)(c + 80);
  polydl_gemm15_vector8 c2_3 = *(const polydl_gemm15_vector8 *)(c + 88);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm15_offsets_a[r];
    const float *br = b + polydl_gemm15_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 24 + 0);
      const polydl_gemm15_vector8 a0 = *(const polydl_gemm15_vector8 *)(ar + l * 24 + 0);
      const polydl_gemm15_vector8 a1 = *(const polydl_gemm15_vector8 *)(ar + l * 24 + 8);
      __builtin_prefetch(ar + (l + 8) * 24 + 16);
      const polydl_gemm15_vector8 a2 = *(const polydl_gemm15_vector8 *)(ar + l * 24 + 16);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0; c2_0 += a2 * b0;
      const float b1 = bl[32]; c0_1 += a0 * b1; c1_1 += a1 * b1; c2_1 += a2 * b1;
      const float b2 = bl[64]; c0_2 += a0 * b2; c1_2 += a1 * b2; c2_2 += a2 * b2;
      const float b3 = bl[96]; c0_3 += a0 * b3; c1_3 += a1 * b3; c2_3 += a2 * b3;
    }
  }
  *(polydl_gemm15_vector8 *)(c + 0) = c0_0;
  *(polydl_gemm15_vector8 *)(c + 8) = c1_0;
  *(polydl_gemm15_vector8 *)(c + 16) = c2_0;
  *(polydl_gemm15_vector8 *)(c + 24) = c0_1;
  *(polydl_gemm15_vector8 *)(c + 32) = c1_1;
  *(polydl_gemm15_vector8 *)(c + 40) = c2_1;
  *(polydl_gemm15_vector8 *)(c + 48) = c0_2;
  *(polydl_gemm15_vector8 *)(c + 56) = c1_2;
  *(polydl_gemm15_vector8 *)(c + 64) = c2_2;
  *(polydl_gemm15_vector8 *)(c + 72) = c0_3;
  *(polydl_gemm15_vector8 *)(c + 80) = c1_3;
  *(polydl_gemm15_vector8 *)(c + 88) = c2_3;
}
static inline void polydl_gemm15_block1_3x4(const float *a, const float *b, float *c, long k, long count)
{
  polydl_gemm15_vector8 c0_0 = *(const polydl_gemm15_vector8 *)(c + 0);
  polydl_gemm15_vector8 c1_0 = *(const polydl_gemm15_vector8 *)(c + 8);
  polydl_gemm15_vector8 c2_0 = *(const polydl_gemm15_vector8 *)(c + 16);
  polydl_gemm15_vector8 c0_1 = *(const polydl_gemm15_vector8 *)(c + 24);
  polydl_gemm15_vector8 c1_1 = *(const polydl_gemm15_vector8 *)(c + 32);
  polydl_gemm15_vector8 c2_1 = *(const polydl_gemm15_vector8 *)(c + 40);
  polydl_gemm15_vector8 c0_2 = *(const polydl_gemm15_vector8 *)(c + 48);
  polydl_gemm15_vector8 c1_2 = *(const polydl_gemm15_vector8 *)(c + 56);
  polydl_gemm15_vector8 c2_2 = *(const polydl_gemm15_vector8 *)(c + 64);
  polydl_gemm15_vector8 c0_3 = *(const polydl_gemm15_vector8 *)(c + 72);
  polydl_gemm15_vector8 c1_3 = *(const polydl_gemm15_vector8 *)(c + 80);
  polydl_gemm15_vector8 c2_3 = *(const polydl_gemm15_vector8 *)(c + 88);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm15_offsets_a[r];
    const float *br = b + polydl_gemm15_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 24 + 0);
      const polydl_gemm15_vector8 a0 = *(const polydl_gemm15_vector8 *)(ar + l * 24 + 0);
      const polydl_gemm15_vector8 a1 = *(const polydl_gemm15_vector8 *)(ar + l * 24 + 8);
      __builtin_prefetch(ar + (l + 8) * 24 + 16);
      const polydl_gemm15_vector8 a2 = *(const polydl_gemm15_vector8 *)(ar + l * 24 + 16);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0; c2_0 += a2 * b0;
      const float b1 = bl[32]; c0_1 += a0 * b1; c1_1 += a1 * b1; c2_1 += a2 * b1;
      const float b2 = bl[64]; c0_2 += a0 * b2; c1_2 += a1 * b2; c2_2 += a2 * b2;
      const float b3 = bl[480]; c0_3 += a0 * b3; c1_3 += a1 * b3; c2_3 += a2 * b3;
    }
  }
  *(polydl_gemm15_vector8 *)(c + 0) = c0_0;
  *(polydl_gemm15_vector8 *)(c + 8) = c1_0;
  *(polydl_gemm15_vector8 *)(c + 16) = c2_0;
  *(polydl_gemm15_vector8 *)(c + 24) = c0_1;
  *(polydl_gemm15_vector8 *)(c + 32) = c1_1;
  *(polydl_gemm15_vector8 *)(c + 40) = c2_1;
  *(polydl_gemm15_vector8 *)(c + 48) = c0_2;
  *(polydl_gemm15_vector8 *)(c + 56) = c1_2;
  *(polydl_gemm15_vector8 *)(c + 64) = c2_2;
  *(polydl_gemm15_vector8 *)(c + 72) = c0_3;
  *(polydl_gemm15_vector8 *)(c + 80) = c1_3;
  *(polydl_gemm15_vector8 *)(c + 88) = c2_3;
}
static inline void polydl_gemm15_block2_3x4(const float *a, const float *b, float *c, long k, long count)
{
  polydl_gemm15_vector8 c0_0 = *(const polydl_gemm15_vector8 *)(c + 0);
  polydl_gemm15_vector8 c1_0 = *(const polydl_gemm15_vector8 *)(c + 8);
  polydl_gemm15_vector8 c2_0 = *(const polydl_gemm15_vector8 *)(c + 16);
  polydl_gemm15_vector8 c0_1 = *(const polydl_gemm15_vector8 *)(c + 24);
  polydl_gemm15_vector8 c1_1 = *(const polydl_gemm15_vector8 *)(c + 32);
  polydl_gemm15_vector8 c2_1 = *(const polydl_gemm15_vector8 *)(c + 40);
  polydl_gemm15_vector8 c0_2 = *(const polydl_gemm15_vector8 *)(c + 48);
  polydl_gemm15_vector8 c1_2 = *(const polydl_gemm15_vector8 *)(c + 56);
  polydl_gemm15_vector8 c2_2 = *(const polydl_gemm15_vector8 *)(c + 64);
  polydl_gemm15_vector8 c0_3 = *(const polydl_gemm15_vector8 *)(c + 72);
  polydl_gemm15_vector8 c1_3 = *(const polydl_gemm15_vector8 *)(c + 80);
  polydl_gemm15_vector8 c2_3 = *(const polydl_gemm15_vector8 *)(c + 88);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm15_offsets_a[r];
    const float *br = b + polydl_gemm15_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 24 + 0);
      const polydl_gemm15_vector8 a0 = *(const polydl_gemm15_vector8 *)(ar + l * 24 + 0);
      const polydl_gemm15_vector8 a1 = *(const polydl_gemm15_vector8 *)(ar + l * 24 + 8);
      __builtin_prefetch(ar + (l + 8) * 24 + 16);
      const polydl_gemm15_vector8 a2 = *(const polydl_gemm15_vector8 *)(ar + l * 24 + 16);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0; c2_0 += a2 * b0;
      const float b1 = bl[32]; c0_1 += a0 * b1; c1_1 += a1 * b1; c2_1 += a2 * b1;
      const float b2 = bl[448]; c0_2 += a0 * b2; c1_2 += a1 * b2; c2_2 += a2 * b2;
      const float b3 = bl[480]; c0_3 += a0 * b3; c1_3 += a1 * b3; c2_3 += a2 * b3;
    }
  }
  *(polydl_gemm15_vector8 *)(c + 0) = c0_0;
  *(polydl_gemm15_vector8 *)(c + 8) = c1_0;
  *(polydl_gemm15_vector8 *)(c + 16) = c2_0;
  *(polydl_gemm15_vector8 *)(c + 24) = c0_1;
  *(polydl_gemm15_vector8 *)(c + 32) = c1_1;
  *(polydl_gemm15_vector8 *)(c + 40) = c2_1;
  *(polydl_gemm15_vector8 *)(c + 48) = c0_2;
  *(polydl_gemm15_vector8 *)(c + 56) = c1_2;
  *(polydl_gemm15_vector8 *)(c + 64) = c2_2;
  *(polydl_gemm15_vector8 *)(c + 72) = c0_3;
  *(polydl_gemm15_vector8 *)(c + 80) = c1_3;
  *(polydl_gemm15_vector8 *)(c + 88) = c2_3;
}
static inline void polydl_gemm15_block3_3x4(const float *a, const float *b, float *c, long k, long count)
{
  polydl_gemm15_vector8 c0_0 = *(const polydl_gemm15_vector8 *)(c + 0);
  polydl_gemm15_vector8 c1_0 = *(const polydl_gemm15_vector8 *)(c + 8);
  polydl_gemm15_vector8 c2_0 = *(const polydl_gemm15_vector8 *)(c + 16);
  polydl_gemm15_vector8 c0_1 = *(const polydl_gemm15_vector8 *)(c + 24);
  polydl_gemm15_vector8 c1_1 = *(const polydl_gemm15_vector8 *)(c + 32);
  polydl_gemm15_vector8 c2_1 = *(const polydl_gemm15_vector8 *)(c + 40);
  polydl_gemm15_vector8 c0_2 = *(const polydl_gemm15_vector8 *)(c + 48);
  polydl_gemm15_vector8 c1_2 = *(const polydl_gemm15_vector8 *)(c + 56);
  polydl_gemm15_vector8 c2_2 = *(const polydl_gemm15_vector8 *)(c + 64);
  polydl_gemm15_vector8 c0_3 = *(const polydl_gemm15_vector8 *)(c + 72);
  polydl_gemm15_vector8 c1_3 = *(const polydl_gemm15_vector8 *)(c + 80);
  polydl_gemm15_vector8 c2_3 = *(const polydl_gemm15_vector8 *)(c + 88);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm15_offsets_a[r];
    const float *br = b + polydl_gemm15_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 24 + 0);
      const polydl_gemm15_vector8 a0 = *(const polydl_gemm15_vector8 *)(ar + l * 24 + 0);
      const polydl_gemm15_vector8 a1 = *(const polydl_gemm15_vector8 *)(ar + l * 24 + 8);
      __builtin_prefetch(ar + (l + 8) * 24 + 16);
      const polydl_gemm15_vector8 a2 = *(const polydl_gemm15_vector8 *)(ar + l * 24 + 16);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0; c2_0 += a2 * b0;
      const float b1 = bl[416]; c0_1 += a0 * b1; c1_1 += a1 * b1; c2_1 += a2 * b1;
      const float b2 = bl[448]; c0_2 += a0 * b2; c1_2 += a1 * b2; c2_2 += a2 * b2;
      const float b3 = bl[480]; c0_3 += a0 * b3; c1_3 += a1 * b3; c2_3 += a2 * b3;
    }
  }
  *(polydl_gemm15_vector8 *)(c + 0) = c0_0;
  *(polydl_gemm15_vector8 *)(c + 8) = c1_0;
  *(polydl_gemm15_vector8 *)(c + 16) = c2_0;
  *(polydl_gemm15_vector8 *)(c + 24) = c0_1;
  *(polydl_gemm15_vector8 *)(c + 32) = c1_1;
  *(polydl_gemm15_vector8 *)(c + 40) = c2_1;
  *(polydl_gemm15_vector8 *)(c + 48) = c0_2;
  *(polydl_gemm15_vector8 *)(c + 56) = c1_2;
  *(polydl_gemm15_vector8 *)(c + 64) = c2_2;
  *(polydl_gemm15_vector8 *)(c + 72) = c0_3;
  *(polydl_gemm15_vector8 *)(c + 80) = c1_3;
  *(polydl_gemm15_vector8 *)(c + 88) = c2_3;
}
static void polydl_gemm15_run_000(const float *a, const float *b, float *c, long count)
{
  for (int i = 0; i < 8; ++i) {
    polydl_gemm15_block0_3x4(a + 0, b + polydl_gemm15_starts0[i], c + 0 + polydl_gemm15_starts1[i], 16, count);
  }
  polydl_gemm15_block1_3x4(a + 0, b + 256, c + 0 + 192, 16, count);
  polydl_gemm15_block2_3x4(a + 0, b + 1024, c + 0 + 480, 16, count);
  polydl_gemm15_block3_3x4(a + 0, b + 1792, c + 0 + 768, 16, count);
}
static void polydl_gemm15_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  (void)last_m;
  (void)last_n;
  (void)last_k;
  (void)first;
  if (1)
    polydl_gemm15_run_000(a, b, c, count);
}
typedef float polydl_image_S0_vector_8
  __attribute__((vector_size(32), aligned(4), may_alias));
static inline __attribute__((always_inline)) void polydl_image_S0_by_8(
    const float *from, float *to, long from0, long from1, long to0, long to1)
{
  const polydl_image_S0_vector_8 x0_0 = *(const polydl_image_S0_vector_8 *)(from + 0 * from0 + 0 * from1);
  const polydl_image_S0_vector_8 x1_0 = *(const polydl_image_S0_vector_8 *)(from + 1 * from0 + 0 * from1);
  const polydl_image_S0_vector_8 x2_0 = *(const polydl_image_S0_vector_8 *)(from + 2 * from0 + 0 * from1);
  const polydl_image_S0_vector_8 x3_0 = *(const polydl_image_S0_vector_8 *)(from + 3 * from0 + 0 * from1);
  const polydl_image_S0_vector_8 x4_0 = *(const polydl_image_S0_vector_8 *)(from + 4 * from0 + 0 * from1);
  const polydl_image_S0_vector_8 a0_e0 = x3_0 - 2.25f * x1_0;
  const polydl_image_S0_vector_8 a0_o0 = 0.5f * x2_0 - 1.125f * x0_0;
  const polydl_image_S0_vector_8 t0_0 = a0_e0 + a0_o0;
  const polydl_image_S0_vector_8 t1_0 = a0_e0 - a0_o0;
  const polydl_image_S0_vector_8 a0_e2 = x3_0 - 0.25f * x1_0;
  const polydl_image_S0_vector_8 a0_o2 = 1.5f * x2_0 - 0.375f * x0_0;
  const polydl_image_S0_vector_8 t2_0 = a0_e2 + a0_o2;
  const polydl_image_S0_vector_8 t3_0 = a0_e2 - a0_o2;
  const polydl_image_S0_vector_8 t4_0 = 0.5625f * x0_0 + x4_0 - 2.5f * x2_0;
  const polydl_image_S0_vector_8 x0_1 = *(const polydl_image_S0_vector_8 *)(from + 0 * from0 + 1 * from1);
  const polydl_image_S0_vector_8 x1_1 = *(const polydl_image_S0_vector_8 *)(from + 1 * from0 + 1 * from1);
  const polydl_image_S0_vector_8 x2_1 = *(const polydl_image_S0_vector_8 *)(from + 2 * from0 + 1 * from1);
  const polydl_image_S0_vector_8 x3_1 = *(const polydl_image_S0_vector_8 *)(from + 3 * from0 + 1 * from1);
  const polydl_image_S0_vector_8 x4_1 = *(const polydl_image_S0_vector_8 *)(from + 4 * from0 + 1 * from1);
  const polydl_image_S0_vector_8 a1_e0 = x3_1 - 2.25f * x1_1;
  const polydl_image_S0_vector_8 a1_o0 = 0.5f * x2_1 - 1.125f * x0_1;
  const polydl_image_S0_vector_8 t0_1 = a1_e0 + a1_o0;
  const polydl_image_S0_vector_8 t1_1 = a1_e0 - a1_o0;
  const polydl_image_S0_vector_8 a1_e2 = x3_1 - 0.25f * x1_1;
  const polydl_image_S0_vector_8 a1_o2 = 1.5f * x2_1 - 0.375f * x0_1;
  const polydl_image_S0_vector_8 t2_1 = a1_e2 + a1_o2;
  const polydl_image_S0_vector_8 t3_1 = a1_e2 - a1_o2;
  const polydl_image_S0_vector_8 t4_1 = 0.5625f * x0_1 + x4_1 - 2.5f * x2_1;
  const polydl_image_S0_vector_8 x0_2 = *(const polydl_image_S0_vector_8 *)(from + 0 * from0 + 2 * from1);
  const polydl_image_S0_vector_8 x1_2 = *(const polydl_image_S0_vector_8 *)(from + 1 * from0 + 2 * from1);
  const polydl_image_S0_vector_8 x2_2 = *(const polydl_image_S0_vector_8 *)(from + 2 * from0 + 2 * from1);
  const polydl_image_S0_vector_8 x3_2 = *(const polydl_image_S0_vector_8 *)(from + 3 * from0 + 2 * from1);
  const polydl_image_S0_vector_8 x4_2 = *(const polydl_image_S0_vector_8 *)(from + 4 * from0 + 2 * from1);
  const polydl_image_S0_vector_8 a2_e0 = x3_2 - 2.25f * x1_2;
  const polydl_image_S0_vector_8 a2_o0 = 0.5f * x2_2 - 1.125f * x0_2;
  const polydl_image_S0_vector_8 t0_2 = a2_e0 + a2_o0;
  const polydl_image_S0_vector_8 t1_2 = a2_e0 - a2_o0;
  const polydl_image_S0_vector_8 a2_e2 = x3_2 - 0.25f * x1_2;
  const polydl_image_S0_vector_8 a2_o2 = 1.5f * x2_2 - 0.375f * x0_2;
  const polydl_image_S0_vector_8 t2_2 = a2_e2 + a2_o2;
  const polydl_image_S0_vector_8 t3_2 = a2_e2 - a2_o2;
  const polydl_image_S0_vector_8 t4_2 = 0.5625f * x0_2 + x4_2 - 2.5f * x2_2;
  const polydl_image_S0_vector_8 x0_3 = *(const polydl_image_S0_vector_8 *)(from + 0 * from0 + 3 * from1);
  const polydl_image_S0_vector_8 x1_3 = *(const polydl_image_S0_vector_8 *)(from + 1 * from0 + 3 * from1);
  const polydl_image_S0_vector_8 x2_3 = *(const polydl_image_S0_vector_8 *)(from + 2 * from0 + 3 * from1);
  const polydl_image_S0_vector_8 x3_3 = *(const polydl_image_S0_vector_8 *)(from + 3 * from0 + 3 * from1);
  const polydl_image_S0_vector_8 x4_3 = *(const polydl_image_S0_vector_8 *)(from + 4 * from0 + 3 * from1);
  const polydl_image_S0_vector_8 a3_e0 = x3_3 - 2.25f * x1_3;
  const polydl_image_S0_vector_8 a3_o0 = 0.5f * x2_3 - 1.125f * x0_3;
  const polydl_image_S0_vector_8 t0_3 = a3_e0 + a3_o0;
  const polydl_image_S0_vector_8 t1_3 = a3_e0 - a3_o0;
  const polydl_image_S0_vector_8 a3_e2 = x3_3 - 0.25f * x1_3;
  const polydl_image_S0_vector_8 a3_o2 = 1.5f * x2_3 - 0.375f * x0_3;
  const polydl_image_S0_vector_8 t2_3 = a3_e2 + a3_o2;
  const polydl_image_S0_vector_8 t3_3 = a3_e2 - a3_o2;
  const polydl_image_S0_vector_8 t4_3 = 0.5625f * x0_3 + x4_3 - 2.5f * x2_3;
  const polydl_image_S0_vector_8 x0_4 = *(const polydl_image_S0_vector_8 *)(from + 0 * from0 + 4 * from1);
  const polydl_image_S0_vector_8 x1_4 = *(const polydl_image_S0_vector_8 *)(from + 1 * from0 + 4 * from1);
  const polydl_image_S0_vector_8 x2_4 = *(const polydl_image_S0_vector_8 *)(from + 2 * from0 + 4 * from1);
  const polydl_image_S0_vector_8 x3_4 = *(const polydl_image_S0_vector_8 *)(from + 3 * from0 + 4 * from1);
  const polydl_image_S0_vector_8 x4_4 = *(const polydl_image_S0_vector_8 *)(from + 4 * from0 + 4 * from1);
  const polydl_image_S0_vector_8 a4_e0 = x3_4 - 2.25f * x1_4;
  const polydl_image_S0_vector_8 a4_o0 = 0.5f * x2_4 - 1.125f * x0_4;
  const polydl_image_S0_vector_8 t0_4 = a4_e0 + a4_o0;
  const polydl_image_S0_vector_8 t1_4 = a4_e0 - a4_o0;
  const polydl_image_S0_vector_8 a4_e2 = x3_4 - 0.25f * x1_4;
  const polydl_image_S0_vector_8 a4_o2 = 1.5f * x2_4 - 0.375f * x0_4;
  const polydl_image_S0_vector_8 t2_4 = a4_e2 + a4_o2;
  const polydl_image_S0_vector_8 t3_4 = a4_e2 - a4_o2;
  const polydl_image_S0_vector_8 t4_4 = 0.5625f * x0_4 + x4_4 - 2.5f * x2_4;
  const polydl_image_S0_vector_8 b0_e0 = t0_3 - 2.25f * t0_1;
  const polydl_image_S0_vector_8 b0_o0 = 0.5f * t0_2 - 1.125f * t0_0;
  const polydl_image_S0_vector_8 y0_0 = b0_e0 + b0_o0;
  const polydl_image_S0_vector_8 y0_1 = b0_e0 - b0_o0;
  const polydl_image_S0_vector_8 b0_e2 = t0_3 - 0.25f * t0_1;
  const polydl_image_S0_vector_8 b0_o2 = 1.5f * t0_2 - 0.375f * t0_0;
  const polydl_image_S0_vector_8 y0_2 = b0_e2 + b0_o2;
  const polydl_image_S0_vector_8 y0_3 = b0_e2 - b0_o2;
  const polydl_image_S0_vector_8 y0_4 = 0.5625f * t0_0 + t0_4 - 2.5f * t0_2;
  *(polydl_image_S0_vector_8 *)(to + 0 * to0 + 0 * to1) = y0_0;
  *(polydl_image_S0_vector_8 *)(to + 0 * to0 + 1 * to1) = y0_1;
  *(polydl_image_S0_vector_8 *)(to + 0 * to0 + 2 * to1) = y0_2;
  *(polydl_image_S0_vector_8 *)(to + 0 * to0 + 3 * to1) = y0_3;
  *(polydl_image_S0_vector_8 *)(to + 0 * to0 + 4 * to1) = y0_4;
  const polydl_image_S0_vector_8 b1_e0 = t1_3 - 2.25f * t1_1;
  const polydl_image_S0_vector_8 b1_o0 = 0.5f * t1_2 - 1.125f * t1_0;
  const polydl_image_S0_vector_8 y1_0 = b1_e0 + b1_o0;
  const polydl_image_S0_vector_8 y1_1 = b1_e0 - b1_o0;
  const polydl_image_S0_vector_8 b1_e2 = t1_3 - 0.25f * t1_1;
  const polydl_image_S0_vector_8 b1_o2 = 1.5f * t1_2 - 0.375f * t1_0;
  const polydl_image_S0_vector_8 y1_2 = b1_e2 + b1_o2;
  const polydl_image_S0_vector_8 y1_3 = b1_e2 - b1_o2;
  const polydl_image_S0_vector_8 y1_4 = 0.5625f * t1_0 + t1_4 - 2.5f * t1_2;
  *(polydl_image_S0_vector_8 *)(to + 1 * to0 + 0 * to1) = y1_0;
  *(polydl_image_S0_vector_8 *)(to + 1 * to0 + 1 * to1) = y1_1;
  *(polydl_image_S0_vector_8 *)(to + 1 * to0 + 2 * to1) = y1_2;
  *(polydl_image_S0_vector_8 *)(to + 1 * to0 + 3 * to1) = y1_3;
  *(polydl_image_S0_vector_8 *)(to + 1 * to0 + 4 * to1) = y1_4;
  const polydl_image_S0_vector_8 b2_e0 = t2_3 - 2.25f * t2_1;
  const polydl_image_S0_vector_8 b2_o0 = 0.5f * t2_2 - 1.125f * t2_0;
  const polydl_image_S0_vector_8 y2_0 = b2_e0 + b2_o0;
  const polydl_image_S0_vector_8 y2_1 = b2_e0 - b2_o0;
  const polydl_image_S0_vector_8 b2_e2 = t2_3 - 0.25f * t2_1;
  const polydl_image_S0_vector_8 b2_o2 = 1.5f * t2_2 - 0.375f * t2_0;
  const polydl_image_S0_vector_8 y2_2 = b2_e2 + b2_o2;
  const polydl_image_S0_vector_8 y2_3 = b2_e2 - b2_o2;
  const polydl_image_S0_vector_8 y2_4 = 0.5625f * t2_0 + t2_4 - 2.5f * t2_2;
  *(polydl_image_S0_vector_8 *)(to + 2 * to0 + 0 * to1) = y2_0;
  *(polydl_image_S0_vector_8 *)(to + 2 * to0 + 1 * to1) = y2_1;
  *(polydl_image_S0_vector_8 *)(to + 2 * to0 + 2 * to1) = y2_2;
  *(polydl_image_S0_vector_8 *)(to + 2 * to0 + 3 * to1) = y2_3;
  *(polydl_image_S0_vector_8 *)(to + 2 * to0 + 4 * to1) = y2_4;
  const polydl_image_S0_vector_8 b3_e0 = t3_3 - 2.25f * t3_1;
  const polydl_image_S0_vector_8 b3_o0 = 0.5f * t3_2 - 1.125f * t3_0;
  const polydl_image_S0_vector_8 y3_0 = b3_e0 + b3_o0;
  const polydl_image_S0_vector_8 y3_1 = b3_e0 - b3_o0;
  const polydl_image_S0_vector_8 b3_e2 = t3_3 - 0.25f * t3_1;
  const polydl_image_S0_vector_8 b3_o2 = 1.5f * t3_2 - 0.375f * t3_0;
  const polydl_image_S0_vector_8 y3_2 = b3_e2 + b3_o2;
  const polydl_image_S0_vector_8 y3_3 = b3_e2 - b3_o2;
  const polydl_image_S0_vector_8 y3_4 = 0.5625f * t3_0 + t3_4 - 2.5f * t3_2;
  *(polydl_image_S0_vector_8 *)(to + 3 * to0 + 0 * to1) = y3_0;
  *(polydl_image_S0_vector_8 *)(to + 3 * to0 + 1 * to1) = y3_1;
  *(polydl_image_S0_vector_8 *)(to + 3 * to0 + 2 * to1) = y3_2;
  *(polydl_image_S0_vector_8 *)(to + 3 * to0 + 3 * to1) = y3_3;
  *(polydl_image_S0_vector_8 *)(to + 3 * to0 + 4 * to1) = y3_4;
  const polydl_image_S0_vector_8 b4_e0 = t4_3 - 2.25f * t4_1;
  const polydl_image_S0_vector_8 b4_o0 = 0.5f * t4_2 - 1.125f * t4_0;
  const polydl_image_S0_vector_8 y4_0 = b4_e0 + b4_o0;
  const polydl_image_S0_vector_8 y4_1 = b4_e0 - b4_o0;
  const polydl_image_S0_vector_8 b4_e2 = t4_3 - 0.25f * t4_1;
  const polydl_image_S0_vector_8 b4_o2 = 1.5f * t4_2 - 0.375f * t4_0;
  const polydl_image_S0_vector_8 y4_2 = b4_e2 + b4_o2;
  const polydl_image_S0_vector_8 y4_3 = b4_e2 - b4_o2;
  const polydl_image_S0_vector_8 y4_4 = 0.5625f * t4_0 + t4_4 - 2.5f * t4_2;
  *(polydl_image_S0_vector_8 *)(to + 4 * to0 + 0 * to1) = y4_0;
  *(polydl_image_S0_vector_8 *)(to + 4 * to0 + 1 * to1) = y4_1;
  *(polydl_image_S0_vector_8 *)(to + 4 * to0 + 2 * to1) = y4_2;
  *(polydl_image_S0_vector_8 *)(to + 4 * to0 + 3 * to1) = y4_3;
  *(polydl_image_S0_vector_8 *)(to + 4 * to0 + 4 * to1) = y4_4;
}
static void polydl_image_S0(const float *restrict from, float *restrict to, int left1)
{
  for (int lane = 0; lane < 16; lane += 8) {
    if (left1 >= 5)
      polydl_image_S0_by_8(from + lane, to + lane, 736, 32, 480, 96);
    else {
      float edge[200] = {0};
      for (int at0 = 0; at0 < 5; ++at0)
      for (int at1 = 0; at1 < 5 && at1 < left1; ++at1)
        for (int i = 0; i < 8; ++i)
          edge[40 * at0 + 8 * at1 + i] = from[lane + 736L * at0 + 32L * at1 + i];
      polydl_image_S0_by_8(edge, to + lane, 40, 8, 480, 96);
    }
  }
}
typedef float polydl_filter_S0_vector_8
  __attribute__((vector_size(32), aligned(4), may_alias));
static inline __attribute__((always_inline)) void polydl_filter_S0_by_8(
    const float *from, float *to, long from0, long from1, long to0, long to1)
{
  const polydl_filter_S0_vector_8 x0_0 = *(const polydl_filter_S0_vector_8 *)(from + 0 * from0 + 0 * from1);
  const polydl_filter_S0_vector_8 x1_0 = *(const polydl_filter_S0_vector_8 *)(from + 1 * from0 + 0 * from1);
  const polydl_filter_S0_vector_8 t0_0 = -0.5f * x0_0 - 0.25f * x1_0;
  const polydl_filter_S0_vector_8 t1_0 = 0.5f * x0_0 - 0.25f * x1_0;
  const polydl_filter_S0_vector_8 t2_0 = 0.16666666666666666f * x0_0 + 0.25f * x1_0;
  const polydl_filter_S0_vector_8 t3_0 = 0.25f * x1_0 - 0.16666666666666666f * x0_0;
  const polydl_filter_S0_vector_8 t4_0 = x1_0;
  const polydl_filter_S0_vector_8 x0_1 = *(const polydl_filter_S0_vector_8 *)(from + 0 * from0 + 1 * from1);
  const polydl_filter_S0_vector_8 x1_1 = *(const polydl_filter_S0_vector_8 *)(from + 1 * from0 + 1 * from1);
  const polydl_filter_S0_vector_8 t0_1 = -0.5f * x0_1 - 0.25f * x1_1;
  const polydl_filter_S0_vector_8 t1_1 = 0.5f * x0_1 - 0.25f * x1_1;
  const polydl_filter_S0_vector_8 t2_1 = 0.16666666666666666f * x0_1 + 0.25f * x1_1;
  const polydl_filter_S0_vector_8 t3_1 = 0.25f * x1_1 - 0.16666666666666666f * x0_1;
  const polydl_filter_S0_vector_8 t4_1 = x1_1;
  const polydl_filter_S0_vector_8 y0_0 = -0.5f * t0_0 - 0.25f * t0_1;
  const polydl_filter_S0_vector_8 y0_1 = 0.5f * t0_0 - 0.25f * t0_1;
  const polydl_filter_S0_vector_8 y0_2 = 0.16666666666666666f * t0_0 + 0.25f * t0_1;
  const polydl_filter_S0_vector_8 y0_3 = 0.25f * t0_1 - 0.16666666666666666f * t0_0;
  const polydl_filter_S0_vector_8 y0_4 = t0_1;
  *(polydl_filter_S0_vector_8 *)(to + 0 * to0 + 0 * to1) = y0_0;
  *(polydl_filter_S0_vector_8 *)(to + 0 * to0 + 1 * to1) = y0_1;
  *(polydl_filter_S0_vector_8 *)(to + 0 * to0 + 2 * to1) = y0_2;
  *(polydl_filter_S0_vector_8 *)(to + 0 * to0 + 3 * to1) = y0_3;
  *(polydl_filter_S0_vector_8 *)(to + 0 * to0 + 4 * to1) = y0_4;
  const polydl_filter_S0_vector_8 y1_0 = -0.5f * t1_0 - 0.25f * t1_1;
  const polydl_filter_S0_vector_8 y1_1 = 0.5f * t1_0 - 0.25f * t1_1;
  const polydl_filter_S0_vector_8 y1_2 = 0.16666666666666666f * t1_0 + 0.25f * t1_1;
  const polydl_filter_S0_vector_8 y1_3 = 0.25f * t1_1 - 0.16666666666666666f * t1_0;
  const polydl_filter_S0_vector_8 y1_4 = t1_1;
  *(polydl_filter_S0_vector_8 *)(to + 1 * to0 + 0 * to1) = y1_0;
  *(polydl_filter_S0_vector_8 *)(to + 1 * to0 + 1 * to1) = y1_1;
  *(polydl_filter_S0_vector_8 *)(to + 1 * to0 + 2 * to1) = y1_2;
  *(polydl_filter_S0_vector_8 *)(to + 1 * to0 + 3 * to1) = y1_3;
  *(polydl_filter_S0_vector_8 *)(to + 1 * to0 + 4 * to1) = y1_4;
  const polydl_filter_S0_vector_8 y2_0 = -0.5f * t2_0 - 0.25f * t2_1;
  const polydl_filter_S0_vector_8 y2_1 = 0.5f * t2_0 - 0.25f * t2_1;
  const polydl_filter_S0_vector_8 y2_2 = 0.16666666666666666f * t2_0 + 0.25f * t2_1;
  const polydl_filter_S0_vector_8 y2_3 = 0.25f * t2_1 - 0.16666666666666666f * t2_0;
  const polydl_filter_S0_vector_8 y2_4 = t2_1;
  *(polydl_filter_S0_vector_8 *)(to + 2 * to0 + 0 * to1) = y2_0;
  *(polydl_filter_S0_vector_8 *)(to + 2 * to0 + 1 * to1) = y2_1;
  *(polydl_filter_S0_vector_8 *)(to + 2 * to0 + 2 * to1) = y2_2;
  *(polydl_filter_S0_vector_8 *)(to + 2 * to0 + 3 * to1) = y2_3;
  *(polydl_filter_S0_vector_8 *)(to + 2 * to0 + 4 * to1) = y2_4;
  const polydl_filter_S0_vector_8 y3_0 = -0.5f * t3_0 - 0.25f * t3_1;
  const polydl_filter_S0_vector_8 y3_1 = 0.5f * t3_0 - 0.25f * t3_1;
  const polydl_filter_S0_vector_8 y3_2 = 0.16666666666666666f * t3_0 + 0.25f * t3_1;
  const polydl_filter_S0_vector_8 y3_3 = 0.25f * t3_1 - 0.16666666666666666f * t3_0;
  const polydl_filter_S0_vector_8 y3_4 = t3_1;
  *(polydl_filter_S0_vector_8 *)(to + 3 * to0 + 0 * to1) = y3_0;
  *(polydl_filter_S0_vector_8 *)(to + 3 * to0 + 1 * to1) = y3_1;
  *(polydl_filter_S0_vector_8 *)(to + 3 * to0 + 2 * to1) = y3_2;
  *(polydl_filter_S0_vector_8 *)(to + 3 * to0 + 3 * to1) = y3_3;
  *(polydl_filter_S0_vector_8 *)(to + 3 * to0 + 4 * to1) = y3_4;
  const polydl_filter_S0_vector_8 y4_0 = -0.5f * t4_0 - 0.25f * t4_1;
  const polydl_filter_S0_vector_8 y4_1 = 0.5f * t4_0 - 0.25f * t4_1;
  const polydl_filter_S0_vector_8 y4_2 = 0.16666666666666666f * t4_0 + 0.25f * t4_1;
  const polydl_filter_S0_vector_8 y4_3 = 0.25f * t4_1 - 0.16666666666666666f * t4_0;
  const polydl_filter_S0_vector_8 y4_4 = t4_1;
  *(polydl_filter_S0_vector_8 *)(to + 4 * to0 + 0 * to1) = y4_0;
  *(polydl_filter_S0_vector_8 *)(to + 4 * to0 + 1 * to1) = y4_1;
  *(polydl_filter_S0_vector_8 *)(to + 4 * to0 + 2 * to1) = y4_2;
  *(polydl_filter_S0_vector_8 *)(to + 4 * to0 + 3 * to1) = y4_3;
  *(polydl_filter_S0_vector_8 *)(to + 4 * to0 + 4 * to1) = y4_4;
}
static void polydl_filter_S0(const float *restrict from, float *restrict to)
{
  for (int lane = 0; lane < 24; lane += 8) {
    polydl_filter_S0_by_8(from + lane, to + lane, 2304, 768, 1920, 384);
  }
}
typedef float polydl_result_S0_vector_8
  __attribute__((vector_size(32), aligned(4), may_alias));
static inline __attribute__((always_inline)) void polydl_result_S0_by_8(
    const float *from, float *to, long from0, long from1, long to0, long to1, int left1)
{
  const polydl_result_S0_vector_8 x0_0 = *(const polydl_result_S0_vector_8 *)(from + 0 * from0 + 0 * from1);
  const polydl_result_S0_vector_8 x1_0 = *(const polydl_result_S0_vector_8 *)(from + 1 * from0 + 0 * from1);
  const polydl_result_S0_vector_8 x2_0 = *(const polydl_result_S0_vector_8 *)(from + 2 * from0 + 0 * from1);
  const polydl_result_S0_vector_8 x3_0 = *(const polydl_result_S0_vector_8 *)(from + 3 * from0 + 0 * from1);
  const polydl_result_S0_vector_8 x4_0 = *(const polydl_result_S0_vector_8 *)(from + 4 * from0 + 0 * from1);
  const polydl_result_S0_vector_8 a0_s0 = x0_0 + x1_0;
  const polydl_result_S0_vector_8 a0_d0 = x0_0 - x1_0;
  const polydl_result_S0_vector_8 a0_s2 = x2_0 + x3_0;
  const polydl_result_S0_vector_8 a0_d2 = x2_0 - x3_0;
  const polydl_result_S0_vector_8 t0_0 = a0_s0 + a0_s2;
  const polydl_result_S0_vector_8 t1_0 = 0.5f * a0_d0 + 1.5f * a0_d2;
  const polydl_result_S0_vector_8 t2_0 = 0.25f * a0_s0 + 2.25f * a0_s2;
  const polydl_result_S0_vector_8 t3_0 = 0.125f * a0_d0 + 3.375f * a0_d2 + x4_0;
  const polydl_result_S0_vector_8 x0_1 = *(const polydl_result_S0_vector_8 *)(from + 0 * from0 + 1 * from1);
  const polydl_result_S0_vector_8 x1_1 = *(const polydl_result_S0_vector_8 *)(from + 1 * from0 + 1 * from1);
  const polydl_result_S0_vector_8 x2_1 = *(const polydl_result_S0_vector_8 *)(from + 2 * from0 + 1 * from1);
  const polydl_result_S0_vector_8 x3_1 = *(const polydl_result_S0_vector_8 *)(from + 3 * from0 + 1 * from1);
  const polydl_result_S0_vector_8 x4_1 = *(const polydl_result_S0_vector_8 *)(from + 4 * from0 + 1 * from1);
  const polydl_result_S0_vector_8 a1_s0 = x0_1 + x1_1;
  const polydl_result_S0_vector_8 a1_d0 = x0_1 - x1_1;
  const polydl_result_S0_vector_8 a1_s2 = x2_1 + x3_1;
  const polydl_result_S0_vector_8 a1_d2 = x2_1 - x3_1;
  const polydl_result_S0_vector_8 t0_1 = a1_s0 + a1_s2;
  const polydl_result_S0_vector_8 t1_1 = 0.5f * a1_d0 + 1.5f * a1_d2;
  const polydl_result_S0_vector_8 t2_1 = 0.25f * a1_s0 + 2.25f * a1_s2;
  const polydl_result_S0_vector_8 t3_1 = 0.125f * a1_d0 + 3.375f * a1_d2 + x4_1;
  const polydl_result_S0_vector_8 x0_2 = *(const polydl_result_S0_vector_8 *)(from + 0 * from0 + 2 * from1);
  const polydl_result_S0_vector_8 x1_2 = *(const polydl_result_S0_vector_8 *)(from + 1 * from0 + 2 * from1);
  const polydl_result_S0_vector_8 x2_2 = *(const polydl_result_S0_vector_8 *)(from + 2 * from0 + 2 * from1);
  const polydl_result_S0_vector_8 x3_2 = *(const polydl_result_S0_vector_8 *)(from + 3 * from0 + 2 * from1);
  const polydl_result_S0_vector_8 x4_2 = *(const polydl_result_S0_vector_8 *)(from + 4 * from0 + 2 * from1);
  const polydl_result_S0_vector_8 a2_s0 = x0_2 + x1_2;
  const polydl_result_S0_vector_8 a2_d0 = x0_2 - x1_2;
  const polydl_result_S0_vector_8 a2_s2 = x2_2 + x3_2;
  const polydl_result_S0_vector_8 a2_d2 = x2_2 - x3_2;
  const polydl_result_S0_vector_8 t0_2 = a2_s0 + a2_s2;
  const polydl_result_S0_vector_8 t1_2 = 0.5f * a2_d0 + 1.5f * a2_d2;
  const polydl_result_S0_vector_8 t2_2 = 0.25f * a2_s0 + 2.25f * a2_s2;
  const polydl_result_S0_vector_8 t3_2 = 0.125f * a2_d0 + 3.375f * a2_d2 + x4_2;
  const polydl_result_S0_vector_8 x0_3 = *(const polydl_result_S0_vector_8 *)(from + 0 * from0 + 3 * from1);
  const polydl_result_S0_vector_8 x1_3 = *(const polydl_result_S0_vector_8 *)(from + 1 * from0 + 3 * from1);
  const polydl_result_S0_vector_8 x2_3 = *(const polydl_result_S0_vector_8 *)(from + 2 * from0 + 3 * from1);
  const polydl_result_S0_vector_8 x3_3 = *(const polydl_result_S0_vector_8 *)(from + 3 * from0 + 3 * from1);
  const polydl_result_S0_vector_8 x4_3 = *(const polydl_result_S0_vector_8 *)(from + 4 * from0 + 3 * from1);
  const polydl_result_S0_vector_8 a3_s0 = x0_3 + x1_3;
  const polydl_result_S0_vector_8 a3_d0 = x0_3 - x1_3;
  const polydl_result_S0_vector_8 a3_s2 = x2_3 + x3_3;
  const polydl_result_S0_vector_8 a3_d2 = x2_3 - x3_3;
  const polydl_result_S0_vector_8 t0_3 = a3_s0 + a3_s2;
  const polydl_result_S0_vector_8 t1_3 = 0.5f * a3_d0 + 1.5f * a3_d2;
  const polydl_result_S0_vector_8 t2_3 = 0.25f * a3_s0 + 2.25f * a3_s2;
  const polydl_result_S0_vector_8 t3_3 = 0.125f * a3_d0 + 3.375f * a3_d2 + x4_3;
  const polydl_result_S0_vector_8 x0_4 = *(const polydl_result_S0_vector_8 *)(from + 0 * from0 + 4 * from1);
  const polydl_result_S0_vector_8 x1_4 = *(const polydl_result_S0_vector_8 *)(from + 1 * from0 + 4 * from1);
  const polydl_result_S0_vector_8 x2_4 = *(const polydl_result_S0_vector_8 *)(from + 2 * from0 + 4 * from1);
  const polydl_result_S0_vector_8 x3_4 = *(const polydl_result_S0_vector_8 *)(from + 3 * from0 + 4 * from1);
  const polydl_result_S0_vector_8 x4_4 = *(const polydl_result_S0_vector_8 *)(from + 4 * from0 + 4 * from1);
  const polydl_result_S0_vector_8 a4_s0 = x0_4 + x1_4;
  const polydl_result_S0_vector_8 a4_d0 = x0_4 - x1_4;
  const polydl_result_S0_vector_8 a4_s2 = x2_4 + x3_4;
  const polydl_result_S0_vector_8 a4_d2 = x2_4 - x3_4;
  const polydl_result_S0_vector_8 t0_4 = a4_s0 + a4_s2;
  const polydl_result_S0_vector_8 t1_4 = 0.5f * a4_d0 + 1.5f * a4_d2;
  const polydl_result_S0_vector_8 t2_4 = 0.25f * a4_s0 + 2.25f * a4_s2;
  const polydl_result_S0_vector_8 t3_4 = 0.125f * a4_d0 + 3.375f * a4_d2 + x4_4;
  const polydl_result_S0_vector_8 b0_s0 = t0_0 + t0_1;
  const polydl_result_S0_vector_8 b0_d0 = t0_0 - t0_1;
  const polydl_result_S0_vector_8 b0_s2 = t0_2 + t0_3;
  const polydl_result_S0_vector_8 b0_d2 = t0_2 - t0_3;
  const polydl_result_S0_vector_8 y0_0 = b0_s0 + b0_s2;
  const polydl_result_S0_vector_8 y0_1 = 0.5f * b0_d0 + 1.5f * b0_d2;
  const polydl_result_S0_vector_8 y0_2 = 0.25f * b0_s0 + 2.25f * b0_s2;
  const polydl_result_S0_vector_8 y0_3 = 0.125f * b0_d0 + 3.375f * b0_d2 + t0_4;
  if (0 < left1) *(polydl_result_S0_vector_8 *)(to + 0 * to0 + 0 * to1) += y0_0;
  if (1 < left1) *(polydl_result_S0_vector_8 *)(to + 0 * to0 + 1 * to1) += y0_1;
  if (2 < left1) *(polydl_result_S0_vector_8 *)(to + 0 * to0 + 2 * to1) += y0_2;
  if (3 < left1) *(polydl_result_S0_vector_8 *)(to + 0 * to0 + 3 * to1) += y0_3;
  const polydl_result_S0_vector_8 b1_s0 = t1_0 + t1_1;
  const polydl_result_S0_vector_8 b1_d0 = t1_0 - t1_1;
  const polydl_result_S0_vector_8 b1_s2 = t1_2 + t1_3;
  const polydl_result_S0_vector_8 b1_d2 = t1_2 - t1_3;
  const polydl_result_S0_vector_8 y1_0 = b1_s0 + b1_s2;
  const polydl_result_S0_vector_8 y1_1 = 0.5f * b1_d0 + 1.5f * b1_d2;
  const polydl_result_S0_vector_8 y1_2 = 0.25f * b1_s0 + 2.25f * b1_s2;
  const polydl_result_S0_vector_8 y1_3 = 0.125f * b1_d0 + 3.375f * b1_d2 + t1_4;
  if (0 < left1) *(polydl_result_S0_vector_8 *)(to + 1 * to0 + 0 * to1) += y1_0;
  if (1 < left1) *(polydl_result_S0_vector_8 *)(to + 1 * to0 + 1 * to1) += y1_1;
  if (2 < left1) *(polydl_result_S0_vector_8 *)(to + 1 * to0 + 2 * to1) += y1_2;
  if (3 < left1) *(polydl_result_S0_vector_8 *)(to + 1 * to0 + 3 * to1) += y1_3;
  const polydl_result_S0_vector_8 b2_s0 = t2_0 + t2_1;
  const polydl_result_S0_vector_8 b2_d0 = t2_0 - t2_1;
  const polydl_result_S0_vector_8 b2_s2 = t2_2 + t2_3;
  const polydl_result_S0_vector_8 b2_d2 = t2_2 - t2_3;
  const polydl_result_S0_vector_8 y2_0 = b2_s0 + b2_s2;
  const polydl_result_S0_vector_8 y2_1 = 0.5f * b2_d0 + 1.5f * b2_d2;
  const polydl_result_S0_vector_8 y2_2 = 0.25f * b2_s0 + 2.25f * b2_s2;
  const polydl_result_S0_vector_8 y2_3 = 0.125f * b2_d0 + 3.375f * b2_d2 + t2_4;
  if (0 < left1) *(polydl_result_S0_vector_8 *)(to + 2 * to0 + 0 * to1) += y2_0;
  if (1 < left1) *(polydl_result_S0_vector_8 *)(to + 2 * to0 + 1 * to1) += y2_1;
  if (2 < left1) *(polydl_result_S0_vector_8 *)(to + 2 * to0 + 2 * to1) += y2_2;
  if (3 < left1) *(polydl_result_S0_vector_8 *)(to + 2 * to0 + 3 * to1) += y2_3;
  const polydl_result_S0_vector_8 b3_s0 = t3_0 + t3_1;
  const polydl_result_S0_vector_8 b3_d0 = t3_0 - t3_1;
  const polydl_result_S0_vector_8 b3_s2 = t3_2 + t3_3;
  const polydl_result_S0_vector_8 b3_d2 = t3_2 - t3_3;
  const polydl_result_S0_vector_8 y3_0 = b3_s0 + b3_s2;
  const polydl_result_S0_vector_8 y3_1 = 0.5f * b3_d0 + 1.5f * b3_d2;
  const polydl_result_S0_vector_8 y3_2 = 0.25f * b3_s0 + 2.25f * b3_s2;
  const polydl_result_S0_vector_8 y3_3 = 0.125f * b3_d0 + 3.375f * b3_d2 + t3_4;
  if (0 < left1) *(polydl_result_S0_vector_8 *)(to + 3 * to0 + 0 * to1) += y3_0;
  if (1 < left1) *(polydl_result_S0_vector_8 *)(to + 3 * to0 + 1 * to1) += y3_1;
  if (2 < left1) *(polydl_result_S0_vector_8 *)(to + 3 * to0 + 2 * to1) += y3_2;
  if (3 < left1) *(polydl_result_S0_vector_8 *)(to + 3 * to0 + 3 * to1) += y3_3;
}
static void polydl_result_S0(const float *restrict from, float *restrict to, int left1)
{
  for (int lane = 0; lane < 24; lane += 8) {
    if (left1 >= 4)
      polydl_result_S0_by_8(from + lane, to + lane, 720, 144, 264, 24, 4);
    else
      polydl_result_S0_by_8(from + lane, to + lane, 720, 144, 264, 24, left1);
  }
}
typedef float polydl_image_S0_2_vector_8
  __attribute__((vector_size(32), aligned(4), may_alias));
static inline __attribute__((always_inline)) void polydl_image_S0_2_by_8(
    const float *from, float *to, long from0, long to0)
{
  const polydl_image_S0_2_vector_8 x0_0 = *(const polydl_image_S0_2_vector_8 *)(from + 0 * from0);
  const polydl_image_S0_2_vector_8 x1_0 = *(const polydl_image_S0_2_vector_8 *)(from + 1 * from0);
  const polydl_image_S0_2_vector_8 x2_0 = *(const polydl_image_S0_2_vector_8 *)(from + 2 * from0);
  const polydl_image_S0_2_vector_8 x3_0 = *(const polydl_image_S0_2_vector_8 *)(from + 3 * from0);
  const polydl_image_S0_2_vector_8 x4_0 = *(const polydl_image_S0_2_vector_8 *)(from + 4 * from0);
  const polydl_image_S0_2_vector_8 a0_e0 = x3_0 - 2.25f * x1_0;
  const polydl_image_S0_2_vector_8 a0_o0 = 0.5f * x2_0 - 1.125f * x0_0;
  const polydl_image_S0_2_vector_8 y0_0 = a0_e0 + a0_o0;
  const polydl_image_S0_2_vector_8 y1_0 = a0_e0 - a0_o0;
  const polydl_image_S0_2_vector_8 a0_e2 = x3_0 - 0.25f * x1_0;
  const polydl_image_S0_2_vector_8 a0_o2 = 1.5f * x2_0 - 0.375f * x0_0;
  const polydl_image_S0_2_vector_8 y2_0 = a0_e2 + a0_o2;
  const polydl_image_S0_2_vector_8 y3_0 = a0_e2 - a0_o2;
  const polydl_image_S0_2_vector_8 y4_0 = 0.5625f * x0_0 + x4_0 - 2.5f * x2_0;
  *(polydl_image_S0_2_vector_8 *)(to + 0 * to0) = y0_0;
  *(polydl_image_S0_2_vector_8 *)(to + 1 * to0) = y1_0;
  *(polydl_image_S0_2_vector_8 *)(to + 2 * to0) = y2_0;
  *(polydl_image_S0_2_vector_8 *)(to + 3 * to0) = y3_0;
  *(polydl_image_S0_2_vector_8 *)(to + 4 * to0) = y4_0;
}
static void polydl_image_S0_2(const float *restrict from, float *restrict to)
{
  for (int lane = 0; lane < 16; lane += 8) {
    polydl_image_S0_2_by_8(from + lane, to + lane, 736, 352);
  }
}
typedef float polydl_filter_S0_2_vector_8
  __attribute__((vector_size(32), aligned(4), may_alias));
static inline __attribute__((always_inline)) void polydl_filter_S0_2_by_8(
    const float *from, float *to, long from0, long to0)
{
  const polydl_filter_S0_2_vector_8 x0_0 = *(const polydl_filter_S0_2_vector_8 *)(from + 0 * from0);
  const polydl_filter_S0_2_vector_8 x1_0 = *(const polydl_filter_S0_2_vector_8 *)(from + 1 * from0);
  const polydl_filter_S0_2_vector_8 y0_0 = -0.5f * x0_0 - 0.25f * x1_0;
  const polydl_filter_S0_2_vector_8 y1_0 = 0.5f * x0_0 - 0.25f * x1_0;
  const polydl_filter_S0_2_vector_8 y2_0 = 0.16666666666666666f * x0_0 + 0.25f * x1_0;
  const polydl_filter_S0_2_vector_8 y3_0 = 0.25f * x1_0 - 0.16666666666666666f * x0_0;
  const polydl_filter_S0_2_vector_8 y4_0 = x1_0;
  *(polydl_filter_S0_2_vector_8 *)(to + 0 * to0) = y0_0;
  *(polydl_filter_S0_2_vector_8 *)(to + 1 * to0) = y1_0;
  *(polydl_filter_S0_2_vector_8 *)(to + 2 * to0) = y2_0;
  *(polydl_filter_S0_2_vector_8 *)(to + 3 * to0) = y3_0;
  *(polydl_filter_S0_2_vector_8 *)(to + 4 * to0) = y4_0;
}
static void polydl_filter_S0_2(const float *restrict from, float *restrict to)
{
  for (int lane = 0; lane < 24; lane += 8) {
    polydl_filter_S0_2_by_8(from + lane, to + lane, 2304, 384);
  }
}
typedef float polydl_result_S0_2_vector_8
  __attribute__((vector_size(32), aligned(4), may_alias));
static inline __attribute__((always_inline)) void polydl_result_S0_2_by_8(
    const float *from, float *to, long from0, long to0)
{
  const polydl_result_S0_2_vector_8 x0_0 = *(const polydl_result_S0_2_vector_8 *)(from + 0 * from0);
  const polydl_result_S0_2_vector_8 x1_0 = *(const polydl_result_S0_2_vector_8 *)(from + 1 * from0);
  const polydl_result_S0_2_vector_8 x2_0 = *(const polydl_result_S0_2_vector_8 *)(from + 2 * from0);
  const polydl_result_S0_2_vector_8 x3_0 = *(const polydl_result_S0_2_vector_8 *)(from + 3 * from0);
  const polydl_result_S0_2_vector_8 x4_0 = *(const polydl_result_S0_2_vector_8 *)(from + 4 * from0);
  const polydl_result_S0_2_vector_8 a0_s0 = x0_0 + x1_0;
  const polydl_result_S0_2_vector_8 a0_d0 = x0_0 - x1_0;
  const polydl_result_S0_2_vector_8 a0_s2 = x2_0 + x3_0;
  const polydl_result_S0_2_vector_8 a0_d2 = x2_0 - x3_0;
  const polydl_result_S0_2_vector_8 y0_0 = a0_s0 + a0_s2;
  const polydl_result_S0_2_vector_8 y1_0 = 0.5f * a0_d0 + 1.5f * a0_d2;
  const polydl_result_S0_2_vector_8 y2_0 = 0.25f * a0_s0 + 2.25f * a0_s2;
  const polydl_result_S0_2_vector_8 y3_0 = 0.125f * a0_d0 + 3.375f * a0_d2 + x4_0;
  *(polydl_result_S0_2_vector_8 *)(to + 0 * to0) += y0_0;
  *(polydl_result_S0_2_vector_8 *)(to + 1 * to0) += y1_0;
  *(polydl_result_S0_2_vector_8 *)(to + 2 * to0) += y2_0;
  *(polydl_result_S0_2_vector_8 *)(to + 3 * to0) += y3_0;
}
static void polydl_result_S0_2(const float *restrict from, float *restrict to)
{
  for (int lane = 0; lane < 24; lane += 8) {
    polydl_result_S0_2_by_8(from + lane, to + lane, 528, 264);
  }
}
typedef float polydl_image_S0_3_vector_8
  __attribute__((vector_size(32), aligned(4), may_alias));
static inline __attribute__((always_inline)) void polydl_image_S0_3_by_8(
    const float *from, float *to, long from0, long to0)
{
  const polydl_image_S0_3_vector_8 x0_0 = *(const polydl_image_S0_3_vector_8 *)(from + 0 * from0);
  const polydl_image_S0_3_vector_8 x1_0 = *(const polydl_image_S0_3_vector_8 *)(from + 1 * from0);
  const polydl_image_S0_3_vector_8 x2_0 = *(const polydl_image_S0_3_vector_8 *)(from + 2 * from0);
  const polydl_image_S0_3_vector_8 x3_0 = *(const polydl_image_S0_3_vector_8 *)(from + 3 * from0);
  const polydl_image_S0_3_vector_8 x4_0 = *(const polydl_image_S0_3_vector_8 *)(from + 4 * from0);
  const polydl_image_S0_3_vector_8 a0_e0 = x3_0 - 2.25f * x1_0;
  const polydl_image_S0_3_vector_8 a0_o0 = 0.5f * x2_0 - 1.125f * x0_0;
  const polydl_image_S0_3_vector_8 y0_0 = a0_e0 + a0_o0;
  const polydl_image_S0_3_vector_8 y1_0 = a0_e0 - a0_o0;
  const polydl_image_S0_3_vector_8 a0_e2 = x3_0 - 0.25f * x1_0;
  const polydl_image_S0_3_vector_8 a0_o2 = 1.5f * x2_0 - 0.375f * x0_0;
  const polydl_image_S0_3_vector_8 y2_0 = a0_e2 + a0_o2;
  const polydl_image_S0_3_vector_8 y3_0 = a0_e2 - a0_o2;
  const polydl_image_S0_3_vector_8 y4_0 = 0.5625f * x0_0 + x4_0 - 2.5f * x2_0;
  *(polydl_image_S0_3_vector_8 *)(to + 0 * to0) = y0_0;
  *(polydl_image_S0_3_vector_8 *)(to + 1 * to0) = y1_0;
  *(polydl_image_S0_3_vector_8 *)(to + 2 * to0) = y2_0;
  *(polydl_image_S0_3_vector_8 *)(to + 3 * to0) = y3_0;
  *(polydl_image_S0_3_vector_8 *)(to + 4 * to0) = y4_0;
}
static void polydl_image_S0_3(const float *restrict from, float *restrict to, int left0)
{
  for (int lane = 0; lane < 16; lane += 8) {
    if (left0 >= 5)
      polydl_image_S0_3_by_8(from + lane, to + lane, 32, 384);
    else {
      float edge[40] = {0};
      for (int at0 = 0; at0 < 5 && at0 < left0; ++at0)
        for (int i = 0; i < 8; ++i)
          edge[8 * at0 + i] = from[lane + 32L * at0 + i];
      polydl_image_S0_3_by_8(edge, to + lane, 8, 384);
    }
  }
}
typedef float polydl_filter_S0_3_vector_8
  __attribute__((vector_size(32), aligned(4), may_alias));
static inline __attribute__((always_inline)) void polydl_filter_S0_3_by_8(
    const float *from, float *to, long from0, long to0)
{
  const polydl_filter_S0_3_vector_8 x0_0 = *(const polydl_filter_S0_3_vector_8 *)(from + 0 * from0);
  const polydl_filter_S0_3_vector_8 x1_0 = *(const polydl_filter_S0_3_vector_8 *)(from + 1 * from0);
  const polydl_filter_S0_3_vector_8 y0_0 = -0.5f * x0_0 - 0.25f * x1_0;
  const polydl_filter_S0_3_vector_8 y1_0 = 0.5f * x0_0 - 0.25f * x1_0;
  const polydl_filter_S0_3_vector_8 y2_0 = 0.16666666666666666f * x0_0 + 0.25f * x1_0;
  const polydl_filter_S0_3_vector_8 y3_0 = 0.25f * x1_0 - 0.16666666666666666f * x0_0;
  const polydl_filter_S0_3_vector_8 y4_0 = x1_0;
  *(polydl_filter_S0_3_vector_8 *)(to + 0 * to0) = y0_0;
  *(polydl_filter_S0_3_vector_8 *)(to + 1 * to0) = y1_0;
  *(polydl_filter_S0_3_vector_8 *)(to + 2 * to0) = y2_0;
  *(polydl_filter_S0_3_vector_8 *)(to + 3 * to0) = y3_0;
  *(polydl_filter_S0_3_vector_8 *)(to + 4 * to0) = y4_0;
}
static void polydl_filter_S0_3(const float *restrict from, float *restrict to)
{
  for (int lane = 0; lane < 24; lane += 8) {
    polydl_filter_S0_3_by_8(from + lane, to + lane, 768, 384);
  }
}
typedef float polydl_result_S0_3_vector_8
  __attribute__((vector_size(32), aligned(4), may_alias));
static inline __attribute__((always_inline)) void polydl_result_S0_3_by_8(
    const float *from, float *to, long from0, long to0, int left0)
{
  const polydl_result_S0_3_vector_8 x0_0 = *(const polydl_result_S0_3_vector_8 *)(from + 0 * from0);
  const polydl_result_S0_3_vector_8 x1_0 = *(const polydl_result_S0_3_vector_8 *)(from + 1 * from0);
  const polydl_result_S0_3_vector_8 x2_0 = *(const polydl_result_S0_3_vector_8 *)(from + 2 * from0);
  const polydl_result_S0_3_vector_8 x3_0 = *(const polydl_result_S0_3_vector_8 *)(from + 3 * from0);
  const polydl_result_S0_3_vector_8 x4_0 = *(const polydl_result_S0_3_vector_8 *)(from + 4 * from0);
  const polydl_result_S0_3_vector_8 a0_s0 = x0_0 + x1_0;
  const polydl_result_S0_3_vector_8 a0_d0 = x0_0 - x1_0;
  const polydl_result_S0_3_vector_8 a0_s2 = x2_0 + x3_0;
  const polydl_result_S0_3_vector_8 a0_d2 = x2_0 - x3_0;
  const polydl_result_S0_3_vector_8 y0_0 = a0_s0 + a0_s2;
  const polydl_result_S0_3_vector_8 y1_0 = 0.5f * a0_d0 + 1.5f * a0_d2;
  const polydl_result_S0_3_vector_8 y2_0 = 0.25f * a0_s0 + 2.25f * a0_s2;
  const polydl_result_S0_3_vector_8 y3_0 = 0.125f * a0_d0 + 3.375f * a0_d2 + x4_0;
  if (0 < left0) *(polydl_result_S0_3_vector_8 *)(to + 0 * to0) += y0_0;
  if (1 < left0) *(polydl_result_S0_3_vector_8 *)(to + 1 * to0) += y1_0;
  if (2 < left0) *(polydl_result_S0_3_vector_8 *)(to + 2 * to0) += y2_0;
  if (3 < left0) *(polydl_result_S0_3_vector_8 *)(to + 3 * to0) += y3_0;
}
static void polydl_result_S0_3(const float *restrict from, float *restrict to, int left0)
{
  for (int lane = 0; lane < 24; lane += 8) {
    if (left0 >= 4)
      polydl_result_S0_3_by_8(from + lane, to + lane, 576, 24, 4);
    else
      polydl_result_S0_3_by_8(from + lane, to + lane, 576, 24, left0);
  }
}

#define conv_strided polydl_tuned_conv_strided
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void conv_strided(float out[8][11][24], const float flt[3][3][16][24], const float in[17][23][16]) {
  if (polydl_reserve()) {
    float in_points[25][6][16] __attribute__((aligned(64)));
    float (*flt_points)[16][24] = polydl_kept(0);
    float out_points[25][6][24] __attribute__((aligned(64)));
    float in_points_[1][5][22][16] __attribute__((aligned(64)));
    float flt_points_[1][5][16][24] __attribute__((aligned(64)));
    float out_points_[5][22][24] __attribute__((aligned(64)));
    float in_points__[1][5][24][16] __attribute__((aligned(64)));
    float flt_points__[1][5][16][24] __attribute__((aligned(64)));
    float out_points__[5][24][24] __attribute__((aligned(64)));
    for (int y = 0; y <= 1; ++y) {
      for (int x = 0; x <= 2; ++x) {
        polydl_image_S0(&in[8 * y][8 * x][0], &in_points[0][3 * y + x][0], 12 - 4 * x);
      }
    }
    for (int c = 0; c <= 15; ++c) {
      polydl_filter_S0(&flt[0][0][c][0], &flt_points[0][c][0]);
    }
    for (int point = 0; point <= 24; ++point) {
      polydl_gemm3_run(&flt_points[point][0][0], &in_points[point][0][0], &out_points[point][0][0], 0, 0, 0, 1, 1);
    }
    for (int y = 0; y <= 1; ++y) {
      for (int x = 0; x <= 2; ++x) {
        polydl_result_S0(&out_points[0][3 * y + x][0], &out[4 * y][4 * x][0], 11 - 4 * x);
      }
    }
    for (int y = 0; y <= 1; ++y) {
      for (int x = 0; x <= 10; ++x) {
        polydl_image_S0_2(&in[8 * y][2 * x + 1][0], &in_points_[0][0][11 * y + x][0]);
      }
    }
    for (int c = 0; c <= 15; ++c) {
      polydl_filter_S0_2(&flt[0][1][c][0], &flt_points_[0][0][c][0]);
    }
    for (int point_ = 0; point_ <= 4; ++point_) {
      polydl_gemm8_run(&flt_points_[0][point_][0][0], &in_points_[0][point_][0][0], &out_points_[point_][0][0], 0, 0, 0, 1, 0 == 0);
    }
    for (int y = 0; y <= 1; ++y) {
      for (int x = 0; x <= 10; ++x) {
        polydl_result_S0_2(&out_points_[0][11 * y + x][0], &out[4 * y][x][0]);
      }
    }
    for (int y = 0; y <= 7; ++y) {
      for (int x = 0; x <= 2; ++x) {
        polydl_image_S0_3(&in[2 * y + 1][8 * x][0], &in_points__[0][0][3 * y + x][0], 12 - 4 * x);
      }
    }
    for (int c = 0; c <= 15; ++c) {
      polydl_filter_S0_3(&flt[1][0][c][0], &flt_points__[0][0][c][0]);
    }
    for (int point__ = 0; point__ <= 4; ++point__) {
      polydl_gemm13_run(&flt_points__[0][point__][0][0], &in_points__[0][point__][0][0], &out_points__[point__][0][0], 0, 0, 0, 1, 0 == 0);
    }
    for (int y = 0; y <= 7; ++y) {
      for (int x = 0; x <= 2; ++x) {
        polydl_result_S0_3(&out_points__[0][3 * y + x][0], &out[y][4 * x][0], 11 - 4 * x);
      }
    }
    for (int y_t1 = 0; y_t1 <= 1; ++y_t1) {
      polydl_gemm15_run(&flt[1][1][0][0], &in[2 * (4 * y_t1) + 1][1][0], &out[4 * y_t1][0][0], 0, 0, 0, 1, 0);
    }
    polydl_leave();
  } else {
  for (int k = 0; k < 24; k++)
    for (int y = 0; y < 8; y++)
      for (int x = 0; x < 11; x++)
        for (int c = 0; c < 16; c++)
          for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++)
              out[y][x][k] += in[2 * y + r][2 * x + s][c] * flt[r][s][c][k];
  }
}
#undef conv_strided

/* for all processors */
void conv_strided(float out[8][11][24], const float flt[3][3][16][24], const float in[17][23][16]) {
  if (polydl_fits()) {
    polydl_tuned_conv_strided(out, flt, in);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int k = 0; k < 24; k++)
    for (int y = 0; y < 8; y++)
      for (int x = 0; x < 11; x++)
        for (int c = 0; c < 16; c++)
          for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++)
              out[y][x][k] += in[2 * y + r][2 * x + s][c] * flt[r][s][c][k];
#endif
}
void conv_strided_release(void);
void conv_strided_release(void)
{
  if (polydl_enter()) {
    polydl_drop();
    polydl_leave();
  }
}
const char *conv_strided_missing(void);
const char *conv_strided_missing(void)
{
  return polydl_missing();
}
/* for this one */
