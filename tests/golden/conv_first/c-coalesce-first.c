#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
static inline int polydl_min(int a, int b) { return a < b ? a : b; }
static inline int polydl_max(int a, int b) { return a > b ? a : b; }
static const long polydl_gemm1_offsets_a[1] = {0};
static const long polydl_gemm1_offsets_b[1] = {0};
typedef float polydl_gemm1_vector16 __attribute__((vector_size(64), aligned(sizeof(float)), may_alias));
static inline void polydl_gemm1_block0_2x6(const float *a, const float *b, float *c, long k, long count)
{
  polydl_gemm1_vector16 c0_0 = *(const polydl_gemm1_vector16 *)(c + 0);
  polydl_gemm1_vector16 c1_0 = *(const polydl_gemm1_vector16 *)(c + 16);
  polydl_gemm1_vector16 c0_1 = *(const polydl_gemm1_vector16 *)(c + 32);
  polydl_gemm1_vector16 c1_1 = *(const polydl_gemm1_vector16 *)(c + 48);
  polydl_gemm1_vector16 c0_2 = *(const polydl_gemm1_vector16 *)(c + 64);
  polydl_gemm1_vector16 c1_2 = *(const polydl_gemm1_vector16 *)(c + 80);
  polydl_gemm1_vector16 c0_3 = *(const polydl_gemm1_vector16 *)(c + 96);
  polydl_gemm1_vector16 c1_3 = *(const polydl_gemm1_vector16 *)(c + 112);
  polydl_gemm1_vector16 c0_4 = *(const polydl_gemm1_vector16 *)(c + 128);
  polydl_gemm1_vector16 c1_4 = *(const polydl_gemm1_vector16 *)(c + 144);
  polydl_gemm1_vector16 c0_5 = *(const polydl_gemm1_vector16 *)(c + 160);
  polydl_gemm1_vector16 c1_5 = *(const polydl_gemm1_vector16 *)(c + 176);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm1_offsets_a[r];
    const float *br = b + polydl_gemm1_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 32 + 0);
      const polydl_gemm1_vector16 a0 = *(const polydl_gemm1_vector16 *)(ar + l * 32 + 0);
      __builtin_prefetch(ar + (l + 8) * 32 + 16);
      const polydl_gemm1_vector16 a1 = *(const polydl_gemm1_vector16 *)(ar + l * 32 + 16);
      const float *bl = br + l * 1;
      __asm__("" : "+r"(bl));
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0;
      const float b1 = bl[6]; c0_1 += a0 * b1; c1_1 += a1 * b1;
      const float b2 = bl[12]; c0_2 += a0 * b2; c1_2 += a1 * b2;
      const float b3 = bl[18]; c0_3 += a0 * b3; c1_3 += a1 * b3;
      const float b4 = bl[24]; c0_4 += a0 * b4; c1_4 += a1 * b4;
      const float b5 = bl[30]; c0_5 += a0 * b5; c1_5 += a1 * b5;
    }
  }
  *(polydl_gemm1_vector16 *)(c + 0) = c0_0;
  *(polydl_gemm1_vector16 *)(c + 16) = c1_0;
  *(polydl_gemm1_vector16 *)(c + 32) = c0_1;
  *(polydl_gemm1_vector16 *)(c + 48) = c1_1;
  *(polydl_gemm1_vector16 *)(c + 64) = c0_2;
  *(polydl_gemm1_vector16 *)(c + 80) = c1_2;
  *(polydl_gemm1_vector16 *)(c + 96) = c0_3;
  *(polydl_gemm1_vector16 *)(c + 112) = c1_3;
  *(polydl_gemm1_vector16 *)(c + 128) = c0_4;
  *(polydl_gemm1_vector16 *)(c + 144) = c1_4;
  *(polydl_gemm1_vector16 *)(c + 160) = c0_5;
  *(polydl_gemm1_vector16 *)(c + 176) = c1_5;
}
static inline void polydl_gemm1_block1_2x4(const float *a, const float *b, float *c, long k, long count)
{
  polydl_gemm1_vector16 c0_0 = *(const polydl_gemm1_vector16 *)(c + 0);
  polydl_gemm1_vector16 c1_0 = *(const polydl_gemm1_vector16 *)(c + 16);
  polydl_gemm1_vector16 c0_1 = *(const polydl_gemm1_vector16 *)(c + 32);
  polydl_gemm1_vector16 c1_1 = *(const polydl_gemm1_vector16 *)(c + 48);
  polydl_gemm1_vector16 c0_2 = *(const polydl_gemm1_vector16 *)(c + 64);
  polydl_gemm1_vector16 c1_2 = *(const polydl_gemm1_vector16 *)(c + 80);
  polydl_gemm1_vector16 c0_3 = *(const polydl_gemm1_vector16 *)(c + 96);
  polydl_gemm1_vector16 c1_3 = *(const polydl_gemm1_vector16 *)(c + 112);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm1_offsets_a[r];
    const float *br = b + polydl_gemm1_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 32 + 0);
      const polydl_gemm1_vector16 a0 = *(const polydl_gemm1_vector16 *)(ar + l * 32 + 0);
      __builtin_prefetch(ar + (l + 8) * 32 + 16);
      const polydl_gemm1_vector16 a1 = *(const polydl_gemm1_vector16 *)(ar + l * 32 + 16);
      const float *bl = br + l * 1;
      __asm__("" : "+r"(bl));
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0;
      const float b1 = bl[6]; c0_1 += a0 * b1; c1_1 += a1 * b1;
      const float b2 = bl[12]; c0_2 += a0 * b2; c1_2 += a1 * b2;
      const float b3 = bl[18]; c0_3 += a0 * b3; c1_3 += a1 * b3;
    }
  }
  *(polydl_gemm1_vector16 *)(c + 0) = c0_0;
  *(polydl_gemm1_vector16 *)(c + 16) = c1_0;
  *(polydl_gemm1_vector16 *)(c + 32) = c0_1;
  *(polydl_gemm1_vector16 *)(c + 48) = c1_1;
  *(polydl_gemm1_vector16 *)(c + 64) = c0_2;
  *(polydl_gemm1_vector16 *)(c + 80) = c1_2;
  *(polydl_gemm1_vector16 *)(c + 96) = c0_3;
  *(polydl_gemm1_vector16 *)(c + 112) = c1_3;
}
static void polydl_gemm1_run_000(const float *a, const float *b, float *c, long count)
{
  polydl_gemm1_block0_2x6(a + 0, b + 0, c + 0 + 0, 15, count);
}
static void polydl_gemm1_run_010(const float *a, const float *b, float *c, long count)
{
  polydl_gemm1_block1_2x4(a + 0, b + 0, c + 0 + 0, 15, count);
}
static void polydl_gemm1_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  (void)last_m;
  (void)last_k;
  (void)first;
  if (!last_n)
    polydl_gemm1_run_000(a, b, c, count);
  if (last_n)
    polydl_gemm1_run_010(a, b, c, count);
}

#define conv_first polydl_tuned_conv_first
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void conv_first(float y[10][10][32], const float w[3][5][3][32], const float x[20][23][3])
{
  {
    float (*w_flat)[15][32] = (void *)w;
    float (*x_flat)[69] = (void *)x;
    for (int i = 0; i <= 9; ++i) {
      for (int j_t1 = 0; j_t1 <= 1; ++j_t1) {
        for (int polydl_c4 = 6 * j_t1; polydl_c4 <= polydl_min(9, ((6 * j_t1) + 5)); ++polydl_c4) {
          #pragma omp simd simdlen(16)
          for (int k = 0; k <= 31; ++k) {
            y[i][polydl_c4][k] = 0.0f;
          }
        }
        for (int polydl_c4 = polydl_max(0, ((-2 * i) + 1)); polydl_c4 <= 2; ++polydl_c4) {
          polydl_gemm1_run(&w_flat[polydl_c4][0][0], &x_flat[2 * i + polydl_c4 - 1][6 * (6 * j_t1)], &y[i][6 * j_t1][0], 0, j_t1 == 1, 0, 1, 0);
        }
      }
    }
  }
}
#undef conv_first

/* for all processors */
void conv_first(float y[10][10][32], const float w[3][5][3][32], const float x[20][23][3])
{
  if (polydl_fits()) {
    polydl_tuned_conv_first(y, w, x);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 0; i < 10; i++)
    for (int j = 0; j < 10; j++)
      for (int k = 0; k < 32; k++)
        y[i][j][k] = 0.0f;
  for (int i = 0; i < 10; i++)
    for (int r = 0; r < 3; r++)
      if (2 * i + r >= 1)
        for (int j = 0; j < 10; j++)
          for (int s = 0; s < 5; s++)
            for (int c = 0; c < 3; c++)
              for (int k = 0; k < 32; k++)
                y[i][j][k] += w[r][s][c][k] * x[2 * i + r - 1][2 * j + s][c];
#endif
}
void conv_first_release(void);
void conv_first_release(void)
{
}
const char *conv_first_missing(void);
const char *conv_first_missing(void)
{
  return polydl_missing();
}
/* for this one */
