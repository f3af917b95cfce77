#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
static inline int polydl_min(int a, int b) { return a < b ? a : b; }
/* transposing copies */
/* team */
static struct polydl_team polydl_team;
static const long polydl_gemm2_offsets_a[1] = {0};
static const long polydl_gemm2_offsets_b[1] = {0};
typedef float polydl_gemm2_vector8 __attribute__((vector_size(32), aligned(sizeof(float)), may_alias));
static inline void polydl_gemm2_block0_1x10(const float *a, const float *b, float *c, long k, long count)
{
  polydl_gemm2_vector8 c0_0 = *(const polydl_gemm2_vector8 *)(c + 0);
  polydl_gemm2_vector8 c0_1 = *(const polydl_gemm2_vector8 *)(c + 24);
  polydl_gemm2_vector8 c0_2 = *(const polydl_gemm2_vector8 *)(c + 48);
  polydl_gemm2_vector8 c0_3 = *(const polydl_gemm2_vector8 *)(c + 72);
  polydl_gemm2_vector8 c0_4 = *(const polydl_gemm2_vector8 *)(c + 96);
  polydl_gemm2_vector8 c0_5 = *(const polydl_gemm2_vector8 *)(c + 120);
  polydl_gemm2_vector8 c0_6 = *(const polydl_gemm2_vector8 *)(c + 144);
  polydl_gemm2_vector8 c0_7 = *(const polydl_gemm2_vector8 *)(c + 168);
  polydl_gemm2_vector8 c0_8 = *(const polydl_gemm2_vector8 *)(c + 192);
  polydl_gemm2_vector8 c0_9 = *(const polydl_gemm2_vector8 *)(c + 216);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm2_offsets_a[r];
    const float *br = b + polydl_gemm2_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 24 + 0);
      const polydl_gemm2_vector8 a0 = *(const polydl_gemm2_vector8 *)(ar + l * 24 + 0);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0;
      const float b1 = bl[32]; c0_1 += a0 * b1;
      const float b2 = bl[64]; c0_2 += a0 * b2;
      const float b3 = bl[96]; c0_3 += a0 * b3;
      const float b4 = bl[128]; c0_4 += a0 * b4;
      const float b5 = bl[160]; c0_5 += a0 * b5;
      const float b6 = bl[192]; c0_6 += a0 * b6;
      const float b7 = bl[224]; c0_7 += a0 * b7;
      const float b8 = bl[256]; c0_8 += a0 * b8;
      const float b9 = bl[288]; c0_9 += a0 * b9;
    }
  }
  *(polydl_gemm2_vector8 *)(c + 0) = c0_0;
  *(polydl_gemm2_vector8 *)(c + 24) = c0_1;
  *(polydl_gemm2_vector8 *)(c + 48) = c0_2;
  *(polydl_gemm2_vector8 *)(c + 72) = c0_3;
  *(polydl_gemm2_vector8 *)(c + 96) = c0_4;
  *(polydl_gemm2_vector8 *)(c + 120) = c0_5;
  *(polydl_gemm2_vector8 *)(c + 144) = c0_6;
  *(polydl_gemm2_vector8 *)(c + 168) = c0_7;
  *(polydl_gemm2_vector8 *)(c + 192) = c0_8;
  *(polydl_gemm2_vector8 *)(c + 216) = c0_9;
}
static void polydl_gemm2_run_000(const float *a, const float *b, float *c, long count)
{
  polydl_gemm2_block0_1x10(a + 0, b + 0, c + 0 + 0, 32, count);
}
static void polydl_gemm2_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  (void)last_m;
  (void)last_n;
  (void)last_k;
  (void)first;
  if (1)
    polydl_gemm2_run_000(a, b, c, count);
}

/* Two products, one after the other: the second reads what the first has made. */
#define products polydl_tuned_products
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void products(float out[40][24], float mid[40][32], const float a[40][50], const float b[32][50], const float c[24][32])
{
  {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    float c_packed[32][24] __attribute__((aligned(64)));
    #pragma omp parallel for
    for (int c_1 = 0; c_1 <= 31; c_1 += 16) {
      polydl_transpose(&c_packed[c_1][0], 24, &c[0][c_1], 32, 16, 24);
    }
    for (int j_t1 = 0; j_t1 <= 1; ++j_t1) {
      polydl_between();
      #pragma omp parallel for
      for (int i = 0; i <= 39; ++i) {
        for (int k_t1 = 0; k_t1 <= 6; ++k_t1) {
          for (int j = 16 * j_t1; j <= ((16 * j_t1) + 15); ++j) {
            if ((8 * k_t1) <= polydl_min(49, ((8 * k_t1) + 7))) {
              {
                float polydl_sum0 = 0;
                #pragma omp simd simdlen(8) reduction(+: polydl_sum0)
                for (int k = 8 * k_t1; k <= polydl_min(49, ((8 * k_t1) + 7)); ++k) {
                  polydl_sum0 += a[i][k] * b[j][k];
                }
                mid[i][j] += polydl_sum0;
              }
            }
          }
        }
      }
    }
    polydl_between();
    #pragma omp parallel for collapse(2)
    for (int j_t1 = 0; j_t1 <= 2; ++j_t1) {
      for (int i_t2 = 0; i_t2 <= 1; ++i_t2) {
        for (int i_t1 = 2 * i_t2; i_t1 <= ((2 * i_t2) + 1); ++i_t1) {
          polydl_gemm2_run(&c_packed[0][8 * j_t1], &mid[10 * i_t1][0], &out[10 * i_t1][8 * j_t1], 0, 0, 0, 1, 0);
        }
      }
    }
    polydl_end(&polydl_call);
  }
}
#undef products

/* for all processors */
void products(float out[40][24], float mid[40][32], const float a[40][50], const float b[32][50], const float c[24][32])
{
  if (polydl_fits()) {
    polydl_tuned_products(out, mid, a, b, c);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 32; j++)
      for (int k = 0; k < 50; k++)
        mid[i][j] += a[i][k] * b[j][k];
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 24; j++)
      for (int k = 0; k < 32; k++)
        out[i][j] += mid[i][k] * c[j][k];
#endif
}
void products_release(void);
void products_release(void)
{
}
const char *products_missing(void);
const char *products_missing(void)
{
  return polydl_missing();
}
/* for this one */
