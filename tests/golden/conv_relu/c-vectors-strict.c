#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
static const long polydl_gemm1_offsets_a[18] = {0, 256, 512, 768, 1024, 1280, 1536, 1792, 2048, 2304, 2560, 2816, 3072, 3328, 3584, 3840, 4096, 4352};
static const long polydl_gemm1_offsets_b[18] = {0, 16, 32, 256, 272, 288, 512, 528, 544, 3584, 3600, 3616, 3840, 3856, 3872, 4096, 4112, 4128};
typedef float polydl_gemm1_vector16 __attribute__((vector_size(64), aligned(sizeof(float)), may_alias));
static inline void polydl_gemm1_block0_1x28(const float *a, const float *b, float *c, long k, long count)
{
  polydl_gemm1_vector16 c0_0 = *(const polydl_gemm1_vector16 *)(c + 0);
  polydl_gemm1_vector16 c0_1 = *(const polydl_gemm1_vector16 *)(c + 16);
  polydl_gemm1_vector16 c0_2 = *(const polydl_gemm1_vector16 *)(c + 32);
  polydl_gemm1_vector16 c0_3 = *(const polydl_gemm1_vector16 *)(c + 48);
  polydl_gemm1_vector16 c0_4 = *(const polydl_gemm1_vector16 *)(c + 64);
  polydl_gemm1_vector16 c0_5 = *(const polydl_gemm1_vector16 *)(c + 80);
  polydl_gemm1_vector16 c0_6 = *(const polydl_gemm1_vector16 *)(c + 96);
  polydl_gemm1_vector16 c0_7 = *(const polydl_gemm1_vector16 *)(c + 112);
  polydl_gemm1_vector16 c0_8 = *(const polydl_gemm1_vector16 *)(c + 128);
  polydl_gemm1_vector16 c0_9 = *(const polydl_gemm1_vector16 *)(c + 144);
  polydl_gemm1_vector16 c0_10 = *(const polydl_gemm1_vector16 *)(c + 160);
  polydl_gemm1_vector16 c0_11 = *(const polydl_gemm1_vector16 *)(c + 176);
  polydl_gemm1_vector16 c0_12 = *(const polydl_gemm1_vector16 *)(c + 192);
  polydl_gemm1_vector16 c0_13 = *(const polydl_gemm1_vector16 *)(c + 208);
  polydl_gemm1_vector16 c0_14 = *(const polydl_gemm1_vector16 *)(c + 224);
  polydl_gemm1_vector16 c0_15 = *(const polydl_gemm1_vector16 *)(c + 240);
  polydl_gemm1_vector16 c0_16 = *(const polydl_gemm1_vector16 *)(c + 256);
  polydl_gemm1_vector16 c0_17 = *(const polydl_gemm1_vector16 *)(c + 272);
  polydl_gemm1_vector16 c0_18 = *(const polydl_gemm1_vector16 *)(c + 288);
  polydl_gemm1_vector16 c0_19 = *(const polydl_gemm1_vector16 *)(c + 304);
  polydl_gemm1_vector16 c0_20 = *(const polydl_gemm1_vector16 *)(c + 320);
  polydl_gemm1_vector16 c0_21 = *(const polydl_gemm1_vector16 *)(c + 336);
  polydl_gemm1_vector16 c0_22 = *(const polydl_gemm1_vector16 *)(c + 352);
  polydl_gemm1_vector16 c0_23 = *(const polydl_gemm1_vector16 *)(c + 368);
  polydl_gemm1_vector16 c0_24 = *(const polydl_gemm1_vector16 *)(c + 384);
  polydl_gemm1_vector16 c0_25 = *(const polydl_gemm1_vector16 *)(c + 400);
  polydl_gemm1_vector16 c0_26 = *(const polydl_gemm1_vector16 *)(c + 416);
  polydl_gemm1_vector16 c0_27 = *(const polydl_gemm1_vector16 *)(c + 432);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm1_offsets_a[r];
    const float *br = b + polydl_gemm1_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 16 + 0);
      const polydl_gemm1_vector16 a0 = *(const polydl_gemm1_vector16 *)(ar + l * 16 + 0);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0;
      const float b1 = bl[16]; c0_1 += a0 * b1;
      const float b2 = bl[32]; c0_2 += a0 * b2;
      const float b3 = bl[48]; c0_3 += a0 * b3;
      const float b4 = bl[64]; c0_4 += a0 * b4;
      const float b5 = bl[80]; c0_5 += a0 * b5;
      const float b6 = bl[96]; c0_6 += a0 * b6;
      const float b7 = bl[112]; c0_7 += a0 * b7;
      const float b8 = bl[128]; c0_8 += a0 * b8;
      const float b9 = bl[144]; c0_9 += a0 * b9;
      const float b10 = bl[160]; c0_10 += a0 * b10;
      const float b11 = bl[176]; c0_11 += a0 * b11;
      const float b12 = bl[192]; c0_12 += a0 * b12;
      const float b13 = bl[208]; c0_13 += a0 * b13;
      const float b14 = bl[256]; c0_14 += a0 * b14;
      const float b15 = bl[272]; c0_15 += a0 * b15;
      const float b16 = bl[288]; c0_16 += a0 * b16;
      const float b17 = bl[304]; c0_17 += a0 * b17;
      const float b18 = bl[320]; c0_18 += a0 * b18;
      const float b19 = bl[336]; c0_19 += a0 * b19;
      const float b20 = bl[352]; c0_20 += a0 * b20;
      const float b21 = bl[368]; c0_21 += a0 * b21;
      const float b22 = bl[384]; c0_22 += a0 * b22;
      const float b23 = bl[400]; c0_23 += a0 * b23;
      const float b24 = bl[416]; c0_24 += a0 * b24;
      const float b25 = bl[432]; c0_25 += a0 * b25;
      const float b26 = bl[448]; c0_26 += a0 * b26;
      const float b27 = bl[464]; c0_27 += a0 * b27;
    }
  }
  *(polydl_gemm1_vector16 *)(c + 0) = c0_0;
  *(polydl_gemm1_vector16 *)(c + 16) = c0_1;
  *(polydl_gemm1_vector16 *)(c + 32) = c0_2;
  *(polydl_gemm1_vector16 *)(c + 48) = c0_3;
  *(polydl_gemm1_vector16 *)(c + 64) = c0_4;
  *(polydl_gemm1_vector16 *)(c + 80) = c0_5;
  *(polydl_gemm1_vector16 *)(c + 96) = c0_6;
  *(polydl_gemm1_vector16 *)(c + 112) = c0_7;
  *(polydl_gemm1_vector16 *)(c + 128) = c0_8;
  *(polydl_gemm1_vector16 *)(c + 144) = c0_9;
  *(polydl_gemm1_vector16 *)(c + 160) = c0_10;
  *(polydl_gemm1_vector16 *)(c + 176) = c0_11;
  *(polydl_gemm1_vector16 *)(c + 192) = c0_12;
  *(polydl_gemm1_vector16 *)(c + 208) = c0_13;
  *(polydl_gemm1_vector16 *)(c + 224) = c0_14;
  *(polydl_gemm1_vector16 *)(c + 240) = c0_15;
  *(polydl_gemm1_vector16 *)(c + 256) = c0_16;
  *(polydl_gemm1_vector16 *)(c + 272) = c0_17;
  *(polydl_gemm1_vector16 *)(c + 288) = c0_18;
  *(polydl_gemm1_vector16 *)(c + 304) = c0_19;
  *(polydl_gemm1_vector16 *)(c + 320) = c0_20;
  *(polydl_gemm1_vector16 *)(c + 336) = c0_21;
  *(polydl_gemm1_vector16 *)(c + 352) = c0_22;
  *(polydl_gemm1_vector16 *)(c + 368) = c0_23;
  *(polydl_gemm1_vector16 *)(c + 384) = c0_24;
  *(polydl_gemm1_vector16 *)(c + 400) = c0_25;
  *(polydl_gemm1_vector16 *)(c + 416) = c0_26;
  *(polydl_gemm1_vector16 *)(c + 432) = c0_27;
}
static void polydl_gemm1_run_000(const float *a, const float *b, float *c, long count)
{
  polydl_gemm1_block0_1x28(a + 0, b + 0, c + 0 + 0, 16, count);
}
static void polydl_gemm1_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  (void)last_m;
  (void)last_n;
  (void)last_k;
  (void)first;
  if (1)
    polydl_gemm1_run_000(a, b, c, count);
}

/* A 3x3 convolution blocked by 16 channels, from zero, with a bias and ReLU behind it. */
#define conv_relu polydl_tuned_conv_relu
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void conv_relu(float output[2][2][12][14][16], const float filter[2][2][3][3][16][16],
               const float input[2][2][14][16][16], const float bias[2][16])
{
  {
    for (int img = 0; img <= 1; ++img) {
      for (int ofm_tile = 0; ofm_tile <= 1; ++ofm_tile) {
        for (int oj = 0; oj <= 11; ++oj) {
          for (int oi = 0; oi <= 13; ++oi) {
            #pragma omp simd simdlen(16)
            for (int ofm = 0; ofm <= 15; ++ofm) {
              output[img][ofm_tile][oj][oi][ofm] = 0.0f;
            }
          }
        }
      }
    }
    for (int img = 0; img <= 1; ++img) {
      for (int ofm_tile = 0; ofm_tile <= 1; ++ofm_tile) {
        for (int oj_t1 = 0; oj_t1 <= 5; ++oj_t1) {
          polydl_gemm1_run(&filter[ofm_tile][0][0][0][0][0], &input[img][0][2 * oj_t1][0][0], &output[img][ofm_tile][2 * oj_t1][0][0], 0, 0, 0, 18, 0);
        }
      }
    }
    for (int img = 0; img <= 1; ++img) {
      for (int ofm_tile = 0; ofm_tile <= 1; ++ofm_tile) {
        for (int oj = 0; oj <= 11; ++oj) {
          for (int oi = 0; oi <= 13; ++oi) {
            #pragma omp simd simdlen(8)
            for (int ofm = 0; ofm <= 15; ++ofm) {
              output[img][ofm_tile][oj][oi][ofm] = ((output[img][ofm_tile][oj][oi][ofm] + bias[ofm_tile][ofm]) > 0.0f) ? (output[img][ofm_tile][oj][oi][ofm] + bias[ofm_tile][ofm]) : 0.0f;
            }
          }
        }
      }
    }
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
}
const char *conv_relu_missing(void);
const char *conv_relu_missing(void)
{
  return polydl_missing();
}
/* for this one */
