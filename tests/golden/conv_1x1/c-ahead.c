#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"

/* processor */
static const long polydl_gemm0_offsets_a[4] = {0, 4096, 8192, 12288};
static const long polydl_gemm0_offsets_b[4] = {0, 3072, 6144, 9216};
typedef float polydl_gemm0_vector16 __attribute__((vector_size(64), aligned(sizeof(float)), may_alias));
static inline void polydl_gemm0_block0_2x8(const float *a, const float *b, float *c, long k, long count, const char *ahead)
{
  polydl_gemm0_vector16 c0_0 = *(const polydl_gemm0_vector16 *)(c + 0);
  polydl_gemm0_vector16 c1_0 = *(const polydl_gemm0_vector16 *)(c + 16);
  polydl_gemm0_vector16 c0_1 = *(const polydl_gemm0_vector16 *)(c + 64);
  polydl_gemm0_vector16 c1_1 = *(const polydl_gemm0_vector16 *)(c + 80);
  polydl_gemm0_vector16 c0_2 = *(const polydl_gemm0_vector16 *)(c + 128);
  polydl_gemm0_vector16 c1_2 = *(const polydl_gemm0_vector16 *)(c + 144);
  polydl_gemm0_vector16 c0_3 = *(const polydl_gemm0_vector16 *)(c + 192);
  polydl_gemm0_vector16 c1_3 = *(const polydl_gemm0_vector16 *)(c + 208);
  polydl_gemm0_vector16 c0_4 = *(const polydl_gemm0_vector16 *)(c + 256);
  polydl_gemm0_vector16 c1_4 = *(const polydl_gemm0_vector16 *)(c + 272);
  polydl_gemm0_vector16 c0_5 = *(const polydl_gemm0_vector16 *)(c + 320);
  polydl_gemm0_vector16 c1_5 = *(const polydl_gemm0_vector16 *)(c + 336);
  polydl_gemm0_vector16 c0_6 = *(const polydl_gemm0_vector16 *)(c + 384);
  polydl_gemm0_vector16 c1_6 = *(const polydl_gemm0_vector16 *)(c + 400);
  polydl_gemm0_vector16 c0_7 = *(const polydl_gemm0_vector16 *)(c + 448);
  polydl_gemm0_vector16 c1_7 = *(const polydl_gemm0_vector16 *)(c + 464);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm0_offsets_a[r];
    const float *br = b + polydl_gemm0_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 64 + 0);
      const polydl_gemm0_vector16 a0 = *(const polydl_gemm0_vector16 *)(ar + l * 64 + 0);
      __builtin_prefetch(ar + (l + 8) * 64 + 16);
      const polydl_gemm0_vector16 a1 = *(const polydl_gemm0_vector16 *)(ar + l * 64 + 16);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0;
      const float b1 = bl[64]; c0_1 += a0 * b1; c1_1 += a1 * b1;
      const float b2 = bl[128]; c0_2 += a0 * b2; c1_2 += a1 * b2;
      const float b3 = bl[192]; c0_3 += a0 * b3; c1_3 += a1 * b3;
      const float b4 = bl[256]; c0_4 += a0 * b4; c1_4 += a1 * b4;
      const float b5 = bl[320]; c0_5 += a0 * b5; c1_5 += a1 * b5;
      const float b6 = bl[384]; c0_6 += a0 * b6; c1_6 += a1 * b6;
      const float b7 = bl[448]; c0_7 += a0 * b7; c1_7 += a1 * b7;
      if (l % 2 == 0) {
        __builtin_prefetch(ahead + 0, 0, 2);
        ahead += 64;
      }
    }
  }
  *(polydl_gemm0_vector16 *)(c + 0) = c0_0;
  *(polydl_gemm0_vector16 *)(c + 16) = c1_0;
  *(polydl_gemm0_vector16 *)(c + 64) = c0_1;
  *(polydl_gemm0_vector16 *)(c + 80) = c1_1;
  *(polydl_gemm0_vector16 *)(c + 128) = c0_2;
  *(polydl_gemm0_vector16 *)(c + 144) = c1_2;
  *(polydl_gemm0_vector16 *)(c + 192) = c0_3;
  *(polydl_gemm0_vector16 *)(c + 208) = c1_3;
  *(polydl_gemm0_vector16 *)(c + 256) = c0_4;
  *(polydl_gemm0_vector16 *)(c + 272) = c1_4;
  *(polydl_gemm0_vector16 *)(c + 320) = c0_5;
  *(polydl_gemm0_vector16 *)(c + 336) = c1_5;
  *(polydl_gemm0_vector16 *)(c + 384) = c0_6;
  *(polydl_gemm0_vector16 *)(c + 400) = c1_6;
  *(polydl_gemm0_vector16 *)(c + 448) = c0_7;
  *(polydl_gemm0_vector16 *)(c + 464) = c1_7;
}
static void polydl_gemm0_run_000(const float *a, const float *b, float *c, long count, const char *ahead)
{
  polydl_gemm0_block0_2x8(a + 0, b + 0, c + 0 + 0, 64, count, ahead + 0 * 5504);
  polydl_gemm0_block0_2x8(a + 32, b + 0, c + 32 + 0, 64, count, ahead + 1 * 5504);
}
static void polydl_gemm0_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first, const char *ahead)
{
  (void)last_m;
  (void)last_n;
  (void)last_k;
  (void)first;
  if (1)
    polydl_gemm0_run_000(a, b, c, count, ahead);
}

/* A 1x1 convolution with filters that take turns in the first cache. */
#define conv_1x1 polydl_tuned_conv_1x1
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void conv_1x1(float output[8][48][64], const float filter[8][4][64][64], const float input[4][48][64])
{
  {
    for (int o = 0; o <= 7; ++o) {
      for (int p_t1 = 0; p_t1 <= 5; ++p_t1) {
        polydl_gemm0_run(&filter[o][0][0][0], &input[0][8 * p_t1][0], &output[o][8 * p_t1][0], 0, 0, 0, 4, 0, (const char *)(&filter[o][0][0][0] + 2736 * (p_t1 % 6) + 16384));
      }
    }
  }
}
#undef conv_1x1

/* for all processors */
void conv_1x1(float output[8][48][64], const float filter[8][4][64][64], const float input[4][48][64])
{
  if (polydl_fits()) {
    polydl_tuned_conv_1x1(output, filter, input);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int o = 0; o < 8; o++)
    for (int i = 0; i < 4; i++)
      for (int p = 0; p < 48; p++)
        for (int ofm = 0; ofm < 64; ofm++)
          for (int ifm = 0; ifm < 64; ifm++)
            output[o][p][ofm] += filter[o][i][ifm][ofm] * input[i][p][ifm];
#endif
}
void conv_1x1_release(void);
void conv_1x1_release(void)
{
}
const char *conv_1x1_missing(void);
const char *conv_1x1_missing(void)
{
  return polydl_missing();
}
/* for this one */
