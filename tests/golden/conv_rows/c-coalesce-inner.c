#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
/* team */
static struct polydl_team polydl_team;
static const long polydl_gemm1_offsets_a[2] = {0, 256};
static const long polydl_gemm1_offsets_b[2] = {0, 560};
typedef float polydl_gemm1_vector8 __attribute__((vector_size(32), aligned(sizeof(float)), may_alias));
static const long polydl_gemm1_starts0[5] = {0, 96, 192, 288, 384};
static inline void polydl_gemm1_block0_2x6(const float *a, const float *b, float *c, long k, long count)
{
  polydl_gemm1_vector8 c0_0 = *(const polydl_gemm1_vector8 *)(c + 0);
  polydl_gemm1_vector8 c1_0 = *(const polydl_gemm1_vector8 *)(c + 8);
  polydl_gemm1_vector8 c0_1 = *(const polydl_gemm1_vector8 *)(c + 16);
  polydl_gemm1_vector8 c1_1 = *(const polydl_gemm1_vector8 *)(c + 24);
  polydl_gemm1_vector8 c0_2 = *(const polydl_gemm1_vector8 *)(c + 32);
  polydl_gemm1_vector8 c1_2 = *(const polydl_gemm1_vector8 *)(c + 40);
  polydl_gemm1_vector8 c0_3 = *(const polydl_gemm1_vector8 *)(c + 48);
  polydl_gemm1_vector8 c1_3 = *(const polydl_gemm1_vector8 *)(c + 56);
  polydl_gemm1_vector8 c0_4 = *(const polydl_gemm1_vector8 *)(c + 64);
  polydl_gemm1_vector8 c1_4 = *(const polydl_gemm1_vector8 *)(c + 72);
  polydl_gemm1_vector8 c0_5 = *(const polydl_gemm1_vector8 *)(c + 80);
  polydl_gemm1_vector8 c1_5 = *(const polydl_gemm1_vector8 *)(c + 88);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm1_offsets_a[r];
    const float *br = b + polydl_gemm1_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 16 + 0);
      const polydl_gemm1_vector8 a0 = *(const polydl_gemm1_vector8 *)(ar + l * 16 + 0);
      const polydl_gemm1_vector8 a1 = *(const polydl_gemm1_vector8 *)(ar + l * 16 + 8);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0;
      const float b1 = bl[16]; c0_1 += a0 * b1; c1_1 += a1 * b1;
      const float b2 = bl[32]; c0_2 += a0 * b2; c1_2 += a1 * b2;
      const float b3 = bl[48]; c0_3 += a0 * b3; c1_3 += a1 * b3;
      const float b4 = bl[64]; c0_4 += a0 * b4; c1_4 += a1 * b4;
      const float b5 = bl[80]; c0_5 += a0 * b5; c1_5 += a1 * b5;
    }
  }
  *(polydl_gemm1_vector8 *)(c + 0) = c0_0;
  *(polydl_gemm1_vector8 *)(c + 8) = c1_0;
  *(polydl_gemm1_vector8 *)(c + 16) = c0_1;
  *(polydl_gemm1_vector8 *)(c + 24) = c1_1;
  *(polydl_gemm1_vector8 *)(c + 32) = c0_2;
  *(polydl_gemm1_vector8 *)(c + 40) = c1_2;
  *(polydl_gemm1_vector8 *)(c + 48) = c0_3;
  *(polydl_gemm1_vector8 *)(c + 56) = c1_3;
  *(polydl_gemm1_vector8 *)(c + 64) = c0_4;
  *(polydl_gemm1_vector8 *)(c + 72) = c1_4;
  *(polydl_gemm1_vector8 *)(c + 80) = c0_5;
  *(polydl_gemm1_vector8 *)(c + 88) = c1_5;
}
static inline void polydl_gemm1_block1_2x5(const float *a, const float *b, float *c, long k, long count)
{
  polydl_gemm1_vector8 c0_0 = *(const polydl_gemm1_vector8 *)(c + 0);
  polydl_gemm1_vector8 c1_0 = *(const polydl_gemm1_vector8 *)(c + 8);
  polydl_gemm1_vector8 c0_1 = *(const polydl_gemm1_vector8 *)(c + 16);
  polydl_gemm1_vector8 c1_1 = *(const polydl_gemm1_vector8 *)(c + 24);
  polydl_gemm1_vector8 c0_2 = *(const polydl_gemm1_vector8 *)(c + 32);
  polydl_gemm1_vector8 c1_2 = *(const polydl_gemm1_vector8 *)(c + 40);
  polydl_gemm1_vector8 c0_3 = *(const polydl_gemm1_vector8 *)(c + 48);
  polydl_gemm1_vector8 c1_3 = *(const polydl_gemm1_vector8 *)(c + 56);
  polydl_gemm1_vector8 c0_4 = *(const polydl_gemm1_vector8 *)(c + 64);
  polydl_gemm1_vector8 c1_4 = *(const polydl_gemm1_vector8 *)(c + 72);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm1_offsets_a[r];
    const float *br = b + polydl_gemm1_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 16 + 0);
      const polydl_gemm1_vector8 a0 = *(const polydl_gemm1_vector8 *)(ar + l * 16 + 0);
      const polydl_gemm1_vector8 a1 = *(const polydl_gemm1_vector8 *)(ar + l * 16 + 8);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0;
      const float b1 = bl[16]; c0_1 += a0 * b1; c1_1 += a1 * b1;
      const float b2 = bl[32]; c0_2 += a0 * b2; c1_2 += a1 * b2;
      const float b3 = bl[48]; c0_3 += a0 * b3; c1_3 += a1 * b3;
      const float b4 = bl[64]; c0_4 += a0 * b4; c1_4 += a1 * b4;
    }
  }
  *(polydl_gemm1_vector8 *)(c + 0) = c0_0;
  *(polydl_gemm1_vector8 *)(c + 8) = c1_0;
  *(polydl_gemm1_vector8 *)(c + 16) = c0_1;
  *(polydl_gemm1_vector8 *)(c + 24) = c1_1;
  *(polydl_gemm1_vector8 *)(c + 32) = c0_2;
  *(polydl_gemm1_vector8 *)(c + 40) = c1_2;
  *(polydl_gemm1_vector8 *)(c + 48) = c0_3;
  *(polydl_gemm1_vector8 *)(c + 56) = c1_3;
  *(polydl_gemm1_vector8 *)(c + 64) = c0_4;
  *(polydl_gemm1_vector8 *)(c + 72) = c1_4;
}
static void polydl_gemm1_run_000(const float *a, const float *b, float *c, long count)
{
  for (int i = 0; i < 5; ++i) {
    polydl_gemm1_block0_2x6(a + 0, b + polydl_gemm1_starts0[i], c + 0 + polydl_gemm1_starts0[i], 16, count);
  }
  polydl_gemm1_block1_2x5(a + 0, b + 480, c + 0 + 480, 16, count);
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

/* A 1x1 convolution whose rows and columns may be one loop: of odd numbers, for no two threads. */
#define conv_rows polydl_tuned_conv_rows
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void conv_rows(float output[3][5][7][16], const float filter[3][2][16][16], const float input[2][5][7][16])
{
  {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    float (*output_flat)[35][16] = (void *)output;
    float (*input_flat)[35][16] = (void *)input;
    #pragma omp parallel for collapse(2)
    for (int o = 0; o <= 2; ++o) {
      for (int j_i = 0; j_i <= 34; ++j_i) {
        #pragma omp simd simdlen(8)
        for (int m = 0; m <= 15; ++m) {
          output_flat[o][j_i][m] = 0;
        }
      }
    }
    polydl_between();
    #pragma omp parallel for
    for (int o = 0; o <= 2; ++o) {
      polydl_gemm1_run(&filter[o][0][0][0], &input_flat[0][0][0], &output_flat[o][0][0], 0, 0, 0, 2, 0);
    }
    polydl_end(&polydl_call);
  }
}
#undef conv_rows

/* for all processors */
void conv_rows(float output[3][5][7][16], const float filter[3][2][16][16], const float input[2][5][7][16])
{
  if (polydl_fits()) {
    polydl_tuned_conv_rows(output, filter, input);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int o = 0; o < 3; o++)
    for (int j = 0; j < 5; j++)
      for (int i = 0; i < 7; i++)
        for (int m = 0; m < 16; m++) {
          output[o][j][i][m] = 0;
          for (int t = 0; t < 2; t++)
            for (int k = 0; k < 16; k++)
              output[o][j][i][m] += filter[o][t][k][m] * input[t][j][i][k];
        }
#endif
}
void conv_rows_release(void);
void conv_rows_release(void)
{
}
const char *conv_rows_missing(void);
const char *conv_rows_missing(void)
{
  return polydl_missing();
}
/* for this one */
