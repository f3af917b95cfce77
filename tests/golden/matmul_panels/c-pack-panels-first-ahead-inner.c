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
enum { polydl_arrays = 1, polydl_reserved = 1 };
static const size_t polydl_sizes[polydl_arrays] = {5898240};
/* kept memory */
static const long polydl_gemm2_offsets_a[1] = {0};
static const long polydl_gemm2_offsets_b[1] = {0};
typedef float polydl_gemm2_vector16 __attribute__((vector_size(64), aligned(sizeof(float)), may_alias));
static const long polydl_gemm2_starts0[8] = {0, 7680, 15360, 23040, 30720, 38400, 46080, 53760};
static const long polydl_gemm2_starts1[8] = {0, 6912, 13824, 20736, 27648, 34560, 41472, 48384};
static const long polydl_gemm2_starts2[2] = {7680, 14080};
static const long polydl_gemm2_starts3[2] = {6912, 12672};
static inline void polydl_gemm2_block0_4x6(const float *a, const float *b, float *c, long k, long count, int first, const char *ahead)
{
  polydl_gemm2_vector16 c0_0 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 0);
  polydl_gemm2_vector16 c1_0 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 16);
  polydl_gemm2_vector16 c2_0 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 32);
  polydl_gemm2_vector16 c3_0 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 48);
  polydl_gemm2_vector16 c0_1 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 1152);
  polydl_gemm2_vector16 c1_1 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 1168);
  polydl_gemm2_vector16 c2_1 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 1184);
  polydl_gemm2_vector16 c3_1 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 1200);
  polydl_gemm2_vector16 c0_2 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 2304);
  polydl_gemm2_vector16 c1_2 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 2320);
  polydl_gemm2_vector16 c2_2 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 2336);
  polydl_gemm2_vector16 c3_2 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 2352);
  polydl_gemm2_vector16 c0_3 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 3456);
  polydl_gemm2_vector16 c1_3 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 3472);
  polydl_gemm2_vector16 c2_3 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 3488);
  polydl_gemm2_vector16 c3_3 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 3504);
  polydl_gemm2_vector16 c0_4 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 4608);
  polydl_gemm2_vector16 c1_4 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 4624);
  polydl_gemm2_vector16 c2_4 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 4640);
  polydl_gemm2_vector16 c3_4 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 4656);
  polydl_gemm2_vector16 c0_5 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 5760);
  polydl_gemm2_vector16 c1_5 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 5776);
  polydl_gemm2_vector16 c2_5 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 5792);
  polydl_gemm2_vector16 c3_5 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 5808);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm2_offsets_a[r];
    const float *br = b + polydl_gemm2_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 64 + 0);
      const polydl_gemm2_vector16 a0 = *(const polydl_gemm2_vector16 *)(ar + l * 64 + 0);
      __builtin_prefetch(ar + (l + 8) * 64 + 16);
      const polydl_gemm2_vector16 a1 = *(const polydl_gemm2_vector16 *)(ar + l * 64 + 16);
      __builtin_prefetch(ar + (l + 8) * 64 + 32);
      const polydl_gemm2_vector16 a2 = *(const polydl_gemm2_vector16 *)(ar + l * 64 + 32);
      __builtin_prefetch(ar + (l + 8) * 64 + 48);
      const polydl_gemm2_vector16 a3 = *(const polydl_gemm2_vector16 *)(ar + l * 64 + 48);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0; c2_0 += a2 * b0; c3_0 += a3 * b0;
      const float b1 = bl[1280]; c0_1 += a0 * b1; c1_1 += a1 * b1; c2_1 += a2 * b1; c3_1 += a3 * b1;
      const float b2 = bl[2560]; c0_2 += a0 * b2; c1_2 += a1 * b2; c2_2 += a2 * b2; c3_2 += a3 * b2;
      const float b3 = bl[3840]; c0_3 += a0 * b3; c1_3 += a1 * b3; c2_3 += a2 * b3; c3_3 += a3 * b3;
      const float b4 = bl[5120]; c0_4 += a0 * b4; c1_4 += a1 * b4; c2_4 += a2 * b4; c3_4 += a3 * b4;
      const float b5 = bl[6400]; c0_5 += a0 * b5; c1_5 += a1 * b5; c2_5 += a2 * b5; c3_5 += a3 * b5;
      if (l % 2 == 0) {
        __builtin_prefetch(ahead + 0, 0, 2);
        ahead += 64;
      }
    }
  }
  *(polydl_gemm2_vector16 *)(c + 0) = c0_0;
  *(polydl_gemm2_vector16 *)(c + 16) = c1_0;
  *(polydl_gemm2_vector16 *)(c + 32) = c2_0;
  *(polydl_gemm2_vector16 *)(c + 48) = c3_0;
  *(polydl_gemm2_vector16 *)(c + 1152) = c0_1;
  *(polydl_gemm2_vector16 *)(c + 1168) = c1_1;
  *(polydl_gemm2_vector16 *)(c + 1184) = c2_1;
  *(polydl_gemm2_vector16 *)(c + 1200) = c3_1;
  *(polydl_gemm2_vector16 *)(c + 2304) = c0_2;
  *(polydl_gemm2_vector16 *)(c + 2320) = c1_2;
  *(polydl_gemm2_vector16 *)(c + 2336) = c2_2;
  *(polydl_gemm2_vector16 *)(c + 2352) = c3_2;
  *(polydl_gemm2_vector16 *)(c + 3456) = c0_3;
  *(polydl_gemm2_vector16 *)(c + 3472) = c1_3;
  *(polydl_gemm2_vector16 *)(c + 3488) = c2_3;
  *(polydl_gemm2_vector16 *)(c + 3504) = c3_3;
  *(polydl_gemm2_vector16 *)(c + 4608) = c0_4;
  *(polydl_gemm2_vector16 *)(c + 4624) = c1_4;
  *(polydl_gemm2_vector16 *)(c + 4640) = c2_4;
  *(polydl_gemm2_vector16 *)(c + 4656) = c3_4;
  *(polydl_gemm2_vector16 *)(c + 5760) = c0_5;
  *(polydl_gemm2_vector16 *)(c + 5776) = c1_5;
  *(polydl_gemm2_vector16 *)(c + 5792) = c2_5;
  *(polydl_gemm2_vector16 *)(c + 5808) = c3_5;
}
static inline void polydl_gemm2_block1_4x6(const float *a, const float *b, float *c, long k, long count, int first, const char *ahead)
{
  polydl_gemm2_vector16 c0_0 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 0);
  polydl_gemm2_vector16 c1_0 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 16);
  polydl_gemm2_vector16 c2_0 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 32);
  polydl_gemm2_vector16 c3_0 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 48);
  polydl_gemm2_vector16 c0_1 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 1152);
  polydl_gemm2_vector16 c1_1 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 1168);
  polydl_gemm2_vector16 c2_1 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 1184);
  polydl_gemm2_vector16 c3_1 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 1200);
  polydl_gemm2_vector16 c0_2 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 2304);
  polydl_gemm2_vector16 c1_2 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 2320);
  polydl_gemm2_vector16 c2_2 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 2336);
  polydl_gemm2_vector16 c3_2 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 2352);
  polydl_gemm2_vector16 c0_3 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 3456);
  polydl_gemm2_vector16 c1_3 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 3472);
  polydl_gemm2_vector16 c2_3 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 3488);
  polydl_gemm2_vector16 c3_3 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 3504);
  polydl_gemm2_vector16 c0_4 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 4608);
  polydl_gemm2_vector16 c1_4 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 4624);
  polydl_gemm2_vector16 c2_4 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 4640);
  polydl_gemm2_vector16 c3_4 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 4656);
  polydl_gemm2_vector16 c0_5 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 5760);
  polydl_gemm2_vector16 c1_5 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 5776);
  polydl_gemm2_vector16 c2_5 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 5792);
  polydl_gemm2_vector16 c3_5 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 5808);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm2_offsets_a[r];
    const float *br = b + polydl_gemm2_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 64 + 0);
      const polydl_gemm2_vector16 a0 = *(const polydl_gemm2_vector16 *)(ar + l * 64 + 0);
      __builtin_prefetch(ar + (l + 8) * 64 + 16);
      const polydl_gemm2_vector16 a1 = *(const polydl_gemm2_vector16 *)(ar + l * 64 + 16);
      __builtin_prefetch(ar + (l + 8) * 64 + 32);
      const polydl_gemm2_vector16 a2 = *(const polydl_gemm2_vector16 *)(ar + l * 64 + 32);
      __builtin_prefetch(ar + (l + 8) * 64 + 48);
      const polydl_gemm2_vector16 a3 = *(const polydl_gemm2_vector16 *)(ar + l * 64 + 48);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0; c2_0 += a2 * b0; c3_0 += a3 * b0;
      const float b1 = bl[1280]; c0_1 += a0 * b1; c1_1 += a1 * b1; c2_1 += a2 * b1; c3_1 += a3 * b1;
      const float b2 = bl[2560]; c0_2 += a0 * b2; c1_2 += a1 * b2; c2_2 += a2 * b2; c3_2 += a3 * b2;
      const float b3 = bl[3840]; c0_3 += a0 * b3; c1_3 += a1 * b3; c2_3 += a2 * b3; c3_3 += a3 * b3;
      const float b4 = bl[5120]; c0_4 += a0 * b4; c1_4 += a1 * b4; c2_4 += a2 * b4; c3_4 += a3 * b4;
      const float b5 = bl[6400]; c0_5 += a0 * b5; c1_5 += a1 * b5; c2_5 += a2 * b5; c3_5 += a3 * b5;
      if (l % 1 == 0) {
        __builtin_prefetch(ahead + 0, 0, 2);
        __builtin_prefetch(ahead + 64, 0, 2);
        ahead += 128;
      }
    }
  }
  *(polydl_gemm2_vector16 *)(c + 0) = c0_0;
  *(polydl_gemm2_vector16 *)(c + 16) = c1_0;
  *(polydl_gemm2_vector16 *)(c + 32) = c2_0;
  *(polydl_gemm2_vector16 *)(c + 48) = c3_0;
  *(polydl_gemm2_vector16 *)(c + 1152) = c0_1;
  *(polydl_gemm2_vector16 *)(c + 1168) = c1_1;
  *(polydl_gemm2_vector16 *)(c + 1184) = c2_1;
  *(polydl_gemm2_vector16 *)(c + 1200) = c3_1;
  *(polydl_gemm2_vector16 *)(c + 2304) = c0_2;
  *(polydl_gemm2_vector16 *)(c + 2320) = c1_2;
  *(polydl_gemm2_vector16 *)(c + 2336) = c2_2;
  *(polydl_gemm2_vector16 *)(c + 2352) = c3_2;
  *(polydl_gemm2_vector16 *)(c + 3456) = c0_3;
  *(polydl_gemm2_vector16 *)(c + 3472) = c1_3;
  *(polydl_gemm2_vector16 *)(c + 3488) = c2_3;
  *(polydl_gemm2_vector16 *)(c + 3504) = c3_3;
  *(polydl_gemm2_vector16 *)(c + 4608) = c0_4;
  *(polydl_gemm2_vector16 *)(c + 4624) = c1_4;
  *(polydl_gemm2_vector16 *)(c + 4640) = c2_4;
  *(polydl_gemm2_vector16 *)(c + 4656) = c3_4;
  *(polydl_gemm2_vector16 *)(c + 5760) = c0_5;
  *(polydl_gemm2_vector16 *)(c + 5776) = c1_5;
  *(polydl_gemm2_vector16 *)(c + 5792) = c2_5;
  *(polydl_gemm2_vector16 *)(c + 5808) = c3_5;
}
static inline void polydl_gemm2_block2_4x5(const float *a, const float *b, float *c, long k, long count, int first, const char *ahead)
{
  polydl_gemm2_vector16 c0_0 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 0);
  polydl_gemm2_vector16 c1_0 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 16);
  polydl_gemm2_vector16 c2_0 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 32);
  polydl_gemm2_vector16 c3_0 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 48);
  polydl_gemm2_vector16 c0_1 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 1152);
  polydl_gemm2_vector16 c1_1 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 1168);
  polydl_gemm2_vector16 c2_1 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 1184);
  polydl_gemm2_vector16 c3_1 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 1200);
  polydl_gemm2_vector16 c0_2 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 2304);
  polydl_gemm2_vector16 c1_2 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 2320);
  polydl_gemm2_vector16 c2_2 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 2336);
  polydl_gemm2_vector16 c3_2 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 2352);
  polydl_gemm2_vector16 c0_3 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 3456);
  polydl_gemm2_vector16 c1_3 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 3472);
  polydl_gemm2_vector16 c2_3 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 3488);
  polydl_gemm2_vector16 c3_3 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 3504);
  polydl_gemm2_vector16 c0_4 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 4608);
  polydl_gemm2_vector16 c1_4 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 4624);
  polydl_gemm2_vector16 c2_4 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 4640);
  polydl_gemm2_vector16 c3_4 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 4656);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm2_offsets_a[r];
    const float *br = b + polydl_gemm2_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 64 + 0);
      const polydl_gemm2_vector16 a0 = *(const polydl_gemm2_vector16 *)(ar + l * 64 + 0);
      __builtin_prefetch(ar + (l + 8) * 64 + 16);
      const polydl_gemm2_vector16 a1 = *(const polydl_gemm2_vector16 *)(ar + l * 64 + 16);
      __builtin_prefetch(ar + (l + 8) * 64 + 32);
      const polydl_gemm2_vector16 a2 = *(const polydl_gemm2_vector16 *)(ar + l * 64 + 32);
      __builtin_prefetch(ar + (l + 8) * 64 + 48);
      const polydl_gemm2_vector16 a3 = *(const polydl_gemm2_vector16 *)(ar + l * 64 + 48);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0; c2_0 += a2 * b0; c3_0 += a3 * b0;
      const float b1 = bl[1280]; c0_1 += a0 * b1; c1_1 += a1 * b1; c2_1 += a2 * b1; c3_1 += a3 * b1;
      const float b2 = bl[2560]; c0_2 += a0 * b2; c1_2 += a1 * b2; c2_2 += a2 * b2; c3_2 += a3 * b2;
      const float b3 = bl[3840]; c0_3 += a0 * b3; c1_3 += a1 * b3; c2_3 += a2 * b3; c3_3 += a3 * b3;
      const float b4 = bl[5120]; c0_4 += a0 * b4; c1_4 += a1 * b4; c2_4 += a2 * b4; c3_4 += a3 * b4;
      if (l % 1 == 0) {
        __builtin_prefetch(ahead + 0, 0, 2);
        __builtin_prefetch(ahead + 64, 0, 2);
        ahead += 128;
      }
    }
  }
  *(polydl_gemm2_vector16 *)(c + 0) = c0_0;
  *(polydl_gemm2_vector16 *)(c + 16) = c1_0;
  *(polydl_gemm2_vector16 *)(c + 32) = c2_0;
  *(polydl_gemm2_vector16 *)(c + 48) = c3_0;
  *(polydl_gemm2_vector16 *)(c + 1152) = c0_1;
  *(polydl_gemm2_vector16 *)(c + 1168) = c1_1;
  *(polydl_gemm2_vector16 *)(c + 1184) = c2_1;
  *(polydl_gemm2_vector16 *)(c + 1200) = c3_1;
  *(polydl_gemm2_vector16 *)(c + 2304) = c0_2;
  *(polydl_gemm2_vector16 *)(c + 2320) = c1_2;
  *(polydl_gemm2_vector16 *)(c + 2336) = c2_2;
  *(polydl_gemm2_vector16 *)(c + 2352) = c3_2;
  *(polydl_gemm2_vector16 *)(c + 3456) = c0_3;
  *(polydl_gemm2_vector16 *)(c + 3472) = c1_3;
  *(polydl_gemm2_vector16 *)(c + 3488) = c2_3;
  *(polydl_gemm2_vector16 *)(c + 3504) = c3_3;
  *(polydl_gemm2_vector16 *)(c + 4608) = c0_4;
  *(polydl_gemm2_vector16 *)(c + 4624) = c1_4;
  *(polydl_gemm2_vector16 *)(c + 4640) = c2_4;
  *(polydl_gemm2_vector16 *)(c + 4656) = c3_4;
}
static void polydl_gemm2_run_000(const float *a, const float *b, float *c, long count, int first, const char *ahead)
{
  for (int i = 0; i < 8; ++i) {
    polydl_gemm2_block0_4x6(a + 0, b + polydl_gemm2_starts0[i], c + 0 + polydl_gemm2_starts1[i], 128, count, first, ahead + (0 + i * 1) * 4096);
  }
}
static void polydl_gemm2_run_010(const float *a, const float *b, float *c, long count, int first, const char *ahead)
{
  polydl_gemm2_block1_4x6(a + 0, b + 0, c + 0 + 0, 128, count, first, ahead + 0 * 10944);
  for (int i = 0; i < 2; ++i) {
    polydl_gemm2_block2_4x5(a + 0, b + polydl_gemm2_starts2[i], c + 0 + polydl_gemm2_starts3[i], 128, count, first, ahead + (1 + i * 1) * 10944);
  }
}
static void polydl_gemm2_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first, const char *ahead)
{
  (void)last_m;
  (void)last_k;
  if (!last_n)
    polydl_gemm2_run_000(a, b, c, count, first, ahead);
  if (last_n)
    polydl_gemm2_run_010(a, b, c, count, first, ahead);
}

/* C = A * B of sizes for which B is packed. */
#define matmul_panels polydl_tuned_matmul_panels
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void matmul_panels(float C[112][1152], const float A[112][1280], const float B[1280][1152])
{
  if (polydl_reserve()) {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    float (*B_panels)[1280][64] = polydl_kept(0);
    #pragma omp parallel for
    for (int B_0 = 0; B_0 <= 17; ++B_0) {
      for (int B_1 = 0; B_1 <= 1279; ++B_1) {
        #pragma omp simd simdlen(16)
        for (int B_2 = 0; B_2 <= 63; ++B_2) {
          B_panels[B_0][B_1][B_2] = B[B_1][64 * B_0 + B_2];
        }
      }
    }
    polydl_between();
    #pragma omp parallel for collapse(2)
    for (int i_t1 = 0; i_t1 <= 2; ++i_t1) {
      for (int j_block = 0; j_block <= 17; ++j_block) {
        for (int k_t1 = 0; k_t1 <= 9; ++k_t1) {
          polydl_gemm2_run(&B_panels[j_block][128 * k_t1][0], &A[48 * i_t1][128 * k_t1], &C[48 * i_t1][64 * j_block], 0, i_t1 == 2, 0, 1, k_t1 == 0, (const char *)(&B_panels[j_block][128 * k_t1][0] + (((k_t1 % 10) < 9) ? 8192 : (((j_block % 18) < 17) ? 8192 : -1466368))));
        }
      }
    }
    polydl_end(&polydl_call);
    polydl_leave();
  } else {
  for (int i = 0; i < 112; i++)
    for (int j = 0; j < 1152; j++) {
      C[i][j] = 0.0f;
      for (int k = 0; k < 1280; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
  }
}
#undef matmul_panels

/* for all processors */
void matmul_panels(float C[112][1152], const float A[112][1280], const float B[1280][1152])
{
  if (polydl_fits()) {
    polydl_tuned_matmul_panels(C, A, B);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 0; i < 112; i++)
    for (int j = 0; j < 1152; j++) {
      C[i][j] = 0.0f;
      for (int k = 0; k < 1280; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
#endif
}
void matmul_panels_release(void);
void matmul_panels_release(void)
{
  if (polydl_enter()) {
    polydl_drop();
    polydl_leave();
  }
}
const char *matmul_panels_missing(void);
const char *matmul_panels_missing(void)
{
  return polydl_missing();
}
/* for this one */
