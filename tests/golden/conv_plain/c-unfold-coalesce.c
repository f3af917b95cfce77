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
static const size_t polydl_sizes[polydl_arrays] = {82944};
/* kept memory */
static const long polydl_gemm1_offsets_a[9] = {0, 216, 432, 18, 234, 450, 36, 252, 468};
static const long polydl_gemm1_offsets_b[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
typedef float polydl_gemm1_vector16 __attribute__((vector_size(64), aligned(sizeof(float)), may_alias));
static inline void polydl_gemm1_block0_3x8(const float *a, const float *b, float *c, long k, long count)
{
  polydl_gemm1_vector16 c0_0 = *(const polydl_gemm1_vector16 *)(c + 0);
  polydl_gemm1_vector16 c1_0 = *(const polydl_gemm1_vector16 *)(c + 16);
  polydl_gemm1_vector16 c2_0 = *(const polydl_gemm1_vector16 *)(c + 32);
  polydl_gemm1_vector16 c0_1 = *(const polydl_gemm1_vector16 *)(c + 180);
  polydl_gemm1_vector16 c1_1 = *(const polydl_gemm1_vector16 *)(c + 196);
  polydl_gemm1_vector16 c2_1 = *(const polydl_gemm1_vector16 *)(c + 212);
  polydl_gemm1_vector16 c0_2 = *(const polydl_gemm1_vector16 *)(c + 360);
  polydl_gemm1_vector16 c1_2 = *(const polydl_gemm1_vector16 *)(c + 376);
  polydl_gemm1_vector16 c2_2 = *(const polydl_gemm1_vector16 *)(c + 392);
  polydl_gemm1_vector16 c0_3 = *(const polydl_gemm1_vector16 *)(c + 540);
  polydl_gemm1_vector16 c1_3 = *(const polydl_gemm1_vector16 *)(c + 556);
  polydl_gemm1_vector16 c2_3 = *(const polydl_gemm1_vector16 *)(c + 572);
  polydl_gemm1_vector16 c0_4 = *(const polydl_gemm1_vector16 *)(c + 720);
  polydl_gemm1_vector16 c1_4 = *(const polydl_gemm1_vector16 *)(c + 736);
  polydl_gemm1_vector16 c2_4 = *(const polydl_gemm1_vector16 *)(c + 752);
  polydl_gemm1_vector16 c0_5 = *(const polydl_gemm1_vector16 *)(c + 900);
  polydl_gemm1_vector16 c1_5 = *(const polydl_gemm1_vector16 *)(c + 916);
  polydl_gemm1_vector16 c2_5 = *(const polydl_gemm1_vector16 *)(c + 932);
  polydl_gemm1_vector16 c0_6 = *(const polydl_gemm1_vector16 *)(c + 1080);
  polydl_gemm1_vector16 c1_6 = *(const polydl_gemm1_vector16 *)(c + 1096);
  polydl_gemm1_vector16 c2_6 = *(const polydl_gemm1_vector16 *)(c + 1112);
  polydl_gemm1_vector16 c0_7 = *(const polydl_gemm1_vector16 *)(c + 1260);
  polydl_gemm1_vector16 c1_7 = *(const polydl_gemm1_vector16 *)(c + 1276);
  polydl_gemm1_vector16 c2_7 = *(const polydl_gemm1_vector16 *)(c + 1292);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm1_offsets_a[r];
    const float *br = b + polydl_gemm1_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 648 + 0);
      const polydl_gemm1_vector16 a0 = *(const polydl_gemm1_vector16 *)(ar + l * 648 + 0);
      __builtin_prefetch(ar + (l + 8) * 648 + 16);
      const polydl_gemm1_vector16 a1 = *(const polydl_gemm1_vector16 *)(ar + l * 648 + 16);
      __builtin_prefetch(ar + (l + 8) * 648 + 32);
      const polydl_gemm1_vector16 a2 = *(const polydl_gemm1_vector16 *)(ar + l * 648 + 32);
      const float *bl = br + l * 9;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0; c2_0 += a2 * b0;
      const float b1 = bl[144]; c0_1 += a0 * b1; c1_1 += a1 * b1; c2_1 += a2 * b1;
      const float b2 = bl[288]; c0_2 += a0 * b2; c1_2 += a1 * b2; c2_2 += a2 * b2;
      const float b3 = bl[432]; c0_3 += a0 * b3; c1_3 += a1 * b3; c2_3 += a2 * b3;
      const float b4 = bl[576]; c0_4 += a0 * b4; c1_4 += a1 * b4; c2_4 += a2 * b4;
      const float b5 = bl[720]; c0_5 += a0 * b5; c1_5 += a1 * b5; c2_5 += a2 * b5;
      const float b6 = bl[864]; c0_6 += a0 * b6; c1_6 += a1 * b6; c2_6 += a2 * b6;
      const float b7 = bl[1008]; c0_7 += a0 * b7; c1_7 += a1 * b7; c2_7 += a2 * b7;
    }
  }
  *(polydl_gemm1_vector16 *)(c + 0) = c0_0;
  *(polydl_gemm1_vector16 *)(c + 16) = c1_0;
  *(polydl_gemm1_vector16 *)(c + 32) = c2_0;
  *(polydl_gemm1_vector16 *)(c + 180) = c0_1;
  *(polydl_gemm1_vector16 *)(c + 196) = c1_1;
  *(polydl_gemm1_vector16 *)(c + 212) = c2_1;
  *(polydl_gemm1_vector16 *)(c + 360) = c0_2;
  *(polydl_gemm1_vector16 *)(c + 376) = c1_2;
  *(polydl_gemm1_vector16 *)(c + 392) = c2_2;
  *(polydl_gemm1_vector16 *)(c + 540) = c0_3;
  *(polydl_gemm1_vector16 *)(c + 556) = c1_3;
  *(polydl_gemm1_vector16 *)(c + 572) = c2_3;
  *(polydl_gemm1_vector16 *)(c + 720) = c0_4;
  *(polydl_gemm1_vector16 *)(c + 736) = c1_4;
  *(polydl_gemm1_vector16 *)(c + 752) = c2_4;
  *(polydl_gemm1_vector16 *)(c + 900) = c0_5;
  *(polydl_gemm1_vector16 *)(c + 916) = c1_5;
  *(polydl_gemm1_vector16 *)(c + 932) = c2_5;
  *(polydl_gemm1_vector16 *)(c + 1080) = c0_6;
  *(polydl_gemm1_vector16 *)(c + 1096) = c1_6;
  *(polydl_gemm1_vector16 *)(c + 1112) = c2_6;
  *(polydl_gemm1_vector16 *)(c + 1260) = c0_7;
  *(polydl_gemm1_vector16 *)(c + 1276) = c1_7;
  *(polydl_gemm1_vector16 *)(c + 1292) = c2_7;
}
static inline void polydl_gemm1_block1_3x8(const float *a, const float *b, float *c, long k, long count)
{
  polydl_gemm1_vector16 c0_0 = *(const polydl_gemm1_vector16 *)(c + 0);
  polydl_gemm1_vector16 c1_0 = *(const polydl_gemm1_vector16 *)(c + 16);
  polydl_gemm1_vector16 c2_0 = *(const polydl_gemm1_vector16 *)(c + 20);
  polydl_gemm1_vector16 c0_1 = *(const polydl_gemm1_vector16 *)(c + 180);
  polydl_gemm1_vector16 c1_1 = *(const polydl_gemm1_vector16 *)(c + 196);
  polydl_gemm1_vector16 c2_1 = *(const polydl_gemm1_vector16 *)(c + 200);
  polydl_gemm1_vector16 c0_2 = *(const polydl_gemm1_vector16 *)(c + 360);
  polydl_gemm1_vector16 c1_2 = *(const polydl_gemm1_vector16 *)(c + 376);
  polydl_gemm1_vector16 c2_2 = *(const polydl_gemm1_vector16 *)(c + 380);
  polydl_gemm1_vector16 c0_3 = *(const polydl_gemm1_vector16 *)(c + 540);
  polydl_gemm1_vector16 c1_3 = *(const polydl_gemm1_vector16 *)(c + 556);
  polydl_gemm1_vector16 c2_3 = *(const polydl_gemm1_vector16 *)(c + 560);
  polydl_gemm1_vector16 c0_4 = *(const polydl_gemm1_vector16 *)(c + 720);
  polydl_gemm1_vector16 c1_4 = *(const polydl_gemm1_vector16 *)(c + 736);
  polydl_gemm1_vector16 c2_4 = *(const polydl_gemm1_vector16 *)(c + 740);
  polydl_gemm1_vector16 c0_5 = *(const polydl_gemm1_vector16 *)(c + 900);
  polydl_gemm1_vector16 c1_5 = *(const polydl_gemm1_vector16 *)(c + 916);
  polydl_gemm1_vector16 c2_5 = *(const polydl_gemm1_vector16 *)(c + 920);
  polydl_gemm1_vector16 c0_6 = *(const polydl_gemm1_vector16 *)(c + 1080);
  polydl_gemm1_vector16 c1_6 = *(const polydl_gemm1_vector16 *)(c + 1096);
  polydl_gemm1_vector16 c2_6 = *(const polydl_gemm1_vector16 *)(c + 1100);
  polydl_gemm1_vector16 c0_7 = *(const polydl_gemm1_vector16 *)(c + 1260);
  polydl_gemm1_vector16 c1_7 = *(const polydl_gemm1_vector16 *)(c + 1276);
  polydl_gemm1_vector16 c2_7 = *(const polydl_gemm1_vector16 *)(c + 1280);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm1_offsets_a[r];
    const float *br = b + polydl_gemm1_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 648 + 0);
      const polydl_gemm1_vector16 a0 = *(const polydl_gemm1_vector16 *)(ar + l * 648 + 0);
      __builtin_prefetch(ar + (l + 8) * 648 + 16);
      const polydl_gemm1_vector16 a1 = *(const polydl_gemm1_vector16 *)(ar + l * 648 + 16);
      __builtin_prefetch(ar + (l + 8) * 648 + 20);
      const polydl_gemm1_vector16 a2 = *(const polydl_gemm1_vector16 *)(ar + l * 648 + 20);
      const float *bl = br + l * 9;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0; c2_0 += a2 * b0;
      const float b1 = bl[144]; c0_1 += a0 * b1; c1_1 += a1 * b1; c2_1 += a2 * b1;
      const float b2 = bl[288]; c0_2 += a0 * b2; c1_2 += a1 * b2; c2_2 += a2 * b2;
      const float b3 = bl[432]; c0_3 += a0 * b3; c1_3 += a1 * b3; c2_3 += a2 * b3;
      const float b4 = bl[576]; c0_4 += a0 * b4; c1_4 += a1 * b4; c2_4 += a2 * b4;
      const float b5 = bl[720]; c0_5 += a0 * b5; c1_5 += a1 * b5; c2_5 += a2 * b5;
      const float b6 = bl[864]; c0_6 += a0 * b6; c1_6 += a1 * b6; c2_6 += a2 * b6;
      const float b7 = bl[1008]; c0_7 += a0 * b7; c1_7 += a1 * b7; c2_7 += a2 * b7;
    }
  }
  *(polydl_gemm1_vector16 *)(c + 0) = c0_0;
  *(polydl_gemm1_vector16 *)(c + 16) = c1_0;
  *(polydl_gemm1_vector16 *)(c + 20) = c2_0;
  *(polydl_gemm1_vector16 *)(c + 180) = c0_1;
  *(polydl_gemm1_vector16 *)(c + 196) = c1_1;
  *(polydl_gemm1_vector16 *)(c + 200) = c2_1;
  *(polydl_gemm1_vector16 *)(c + 360) = c0_2;
  *(polydl_gemm1_vector16 *)(c + 376) = c1_2;
  *(polydl_gemm1_vector16 *)(c + 380) = c2_2;
  *(polydl_gemm1_vector16 *)(c + 540) = c0_3;
  *(polydl_gemm1_vector16 *)(c + 556) = c1_3;
  *(polydl_gemm1_vector16 *)(c + 560) = c2_3;
  *(polydl_gemm1_vector16 *)(c + 720) = c0_4;
  *(polydl_gemm1_vector16 *)(c + 736) = c1_4;
  *(polydl_gemm1_vector16 *)(c + 740) = c2_4;
  *(polydl_gemm1_vector16 *)(c + 900) = c0_5;
  *(polydl_gemm1_vector16 *)(c + 916) = c1_5;
  *(polydl_gemm1_vector16 *)(c + 920) = c2_5;
  *(polydl_gemm1_vector16 *)(c + 1080) = c0_6;
  *(polydl_gemm1_vector16 *)(c + 1096) = c1_6;
  *(polydl_gemm1_vector16 *)(c + 1100) = c2_6;
  *(polydl_gemm1_vector16 *)(c + 1260) = c0_7;
  *(polydl_gemm1_vector16 *)(c + 1276) = c1_7;
  *(polydl_gemm1_vector16 *)(c + 1280) = c2_7;
}
static void polydl_gemm1_run_000(const float *a, const float *b, float *c, long count)
{
  polydl_gemm1_block0_3x8(a + 0, b + 0, c + 0 + 0, 16, count);
  polydl_gemm1_block0_3x8(a + 48, b + 0, c + 48 + 0, 16, count);
}
static void polydl_gemm1_run_100(const float *a, const float *b, float *c, long count)
{
  polydl_gemm1_block0_3x8(a + 0, b + 0, c + 0 + 0, 16, count);
  polydl_gemm1_block1_3x8(a + 48, b + 0, c + 48 + 0, 16, count);
}
static void polydl_gemm1_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  (void)last_n;
  (void)last_k;
  (void)first;
  if (!last_m)
    polydl_gemm1_run_000(a, b, c, count);
  if (last_m)
    polydl_gemm1_run_100(a, b, c, count);
}

/* A convolution in plain layouts, NCHW and KCRS. */
#define conv_plain polydl_tuned_conv_plain
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void conv_plain(float out[2][32][10][18], const float flt[32][16][3][3], const float in[2][16][12][20])
{
  if (polydl_reserve()) {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    float (*in_unfolded)[16][3][216] = polydl_kept(0);
    float (*out_flat)[32][180] = (void *)out;
    #pragma omp parallel for
    for (int in_0 = 0; in_0 <= 1; ++in_0) {
      for (int in_1 = 0; in_1 <= 15; ++in_1) {
        for (int in_2 = 0; in_2 <= 2; ++in_2) {
          for (int in_3 = 0; in_3 <= 11; ++in_3) {
            #pragma omp simd simdlen(16)
            for (int in_4 = 0; in_4 <= 17; ++in_4) {
              in_unfolded[in_0][in_1][in_2][18 * in_3 + in_4] = in[in_0][in_1][in_3][in_2 + in_4];
            }
          }
        }
      }
    }
    polydl_between();
    #pragma omp parallel for
    for (int n = 0; n <= 1; ++n) {
      for (int k_t1 = 0; k_t1 <= 3; ++k_t1) {
        for (int y_x_t1 = 0; y_x_t1 <= 1; ++y_x_t1) {
          polydl_gemm1_run(&in_unfolded[n][0][0][96 * y_x_t1], &flt[8 * k_t1][0][0][0], &out_flat[n][8 * k_t1][96 * y_x_t1], y_x_t1 == 1, 0, 0, 9, 0);
        }
      }
    }
    polydl_end(&polydl_call);
    polydl_leave();
  } else {
  for (int n = 0; n < 2; n++)
    for (int k = 0; k < 32; k++)
      for (int c = 0; c < 16; c++)
        for (int y = 0; y < 10; y++)
          for (int x = 0; x < 18; x++)
            for (int r = 0; r < 3; r++)
              for (int s = 0; s < 3; s++)
                out[n][k][y][x] += flt[k][c][r][s] * in[n][c][y + r][x + s];
  }
}
#undef conv_plain

/* for all processors */
void conv_plain(float out[2][32][10][18], const float flt[32][16][3][3], const float in[2][16][12][20])
{
  if (polydl_fits()) {
    polydl_tuned_conv_plain(out, flt, in);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int n = 0; n < 2; n++)
    for (int k = 0; k < 32; k++)
      for (int c = 0; c < 16; c++)
        for (int y = 0; y < 10; y++)
          for (int x = 0; x < 18; x++)
            for (int r = 0; r < 3; r++)
              for (int s = 0; s < 3; s++)
                out[n][k][y][x] += flt[k][c][r][s] * in[n][c][y + r][x + s];
#endif
}
void conv_plain_release(void);
void conv_plain_release(void)
{
  if (polydl_enter()) {
    polydl_drop();
    polydl_leave();
  }
}
const char *conv_plain_missing(void);
const char *conv_plain_missing(void)
{
  return polydl_missing();
}
/* for this one */
