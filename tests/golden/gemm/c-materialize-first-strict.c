#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
/* team */
static struct polydl_team polydl_team;
static const long polydl_gemm2_offsets_a[1] = {0};
static const long polydl_gemm2_offsets_b[1] = {0};
typedef float polydl_gemm2_vector8 __attribute__((vector_size(32), aligned(sizeof(float)), may_alias));
static const long polydl_gemm2_starts0[2] = {0, 240};
static const long polydl_gemm2_starts1[2] = {0, 384};
static inline void polydl_gemm2_block0_2x6(const float *a, const float *b, float *c, long k, long count)
{
  polydl_gemm2_vector8 c0_0 = *(const polydl_gemm2_vector8 *)(c + 0);
  polydl_gemm2_vector8 c1_0 = *(const polydl_gemm2_vector8 *)(c + 8);
  polydl_gemm2_vector8 c0_1 = *(const polydl_gemm2_vector8 *)(c + 64);
  polydl_gemm2_vector8 c1_1 = *(const polydl_gemm2_vector8 *)(c + 72);
  polydl_gemm2_vector8 c0_2 = *(const polydl_gemm2_vector8 *)(c + 128);
  polydl_gemm2_vector8 c1_2 = *(const polydl_gemm2_vector8 *)(c + 136);
  polydl_gemm2_vector8 c0_3 = *(const polydl_gemm2_vector8 *)(c + 192);
  polydl_gemm2_vector8 c1_3 = *(const polydl_gemm2_vector8 *)(c + 200);
  polydl_gemm2_vector8 c0_4 = *(const polydl_gemm2_vector8 *)(c + 256);
  polydl_gemm2_vector8 c1_4 = *(const polydl_gemm2_vector8 *)(c + 264);
  polydl_gemm2_vector8 c0_5 = *(const polydl_gemm2_vector8 *)(c + 320);
  polydl_gemm2_vector8 c1_5 = *(const polydl_gemm2_vector8 *)(c + 328);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm2_offsets_a[r];
    const float *br = b + polydl_gemm2_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 64 + 0);
      const polydl_gemm2_vector8 a0 = *(const polydl_gemm2_vector8 *)(ar + l * 64 + 0);
      const polydl_gemm2_vector8 a1 = *(const polydl_gemm2_vector8 *)(ar + l * 64 + 8);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0;
      const float b1 = bl[40]; c0_1 += a0 * b1; c1_1 += a1 * b1;
      const float b2 = bl[80]; c0_2 += a0 * b2; c1_2 += a1 * b2;
      const float b3 = bl[120]; c0_3 += a0 * b3; c1_3 += a1 * b3;
      const float b4 = bl[160]; c0_4 += a0 * b4; c1_4 += a1 * b4;
      const float b5 = bl[200]; c0_5 += a0 * b5; c1_5 += a1 * b5;
    }
  }
  *(polydl_gemm2_vector8 *)(c + 0) = c0_0;
  *(polydl_gemm2_vector8 *)(c + 8) = c1_0;
  *(polydl_gemm2_vector8 *)(c + 64) = c0_1;
  *(polydl_gemm2_vector8 *)(c + 72) = c1_1;
  *(polydl_gemm2_vector8 *)(c + 128) = c0_2;
  *(polydl_gemm2_vector8 *)(c + 136) = c1_2;
  *(polydl_gemm2_vector8 *)(c + 192) = c0_3;
  *(polydl_gemm2_vector8 *)(c + 200) = c1_3;
  *(polydl_gemm2_vector8 *)(c + 256) = c0_4;
  *(polydl_gemm2_vector8 *)(c + 264) = c1_4;
  *(polydl_gemm2_vector8 *)(c + 320) = c0_5;
  *(polydl_gemm2_vector8 *)(c + 328) = c1_5;
}
static void polydl_gemm2_run_000(const float *a, const float *b, float *c, long count)
{
  for (int i = 0; i < 2; ++i) {
    polydl_gemm2_block0_2x6(a + 0, b + polydl_gemm2_starts0[i], c + 0 + polydl_gemm2_starts1[i], 32, count);
    polydl_gemm2_block0_2x6(a + 16, b + polydl_gemm2_starts0[i], c + 16 + polydl_gemm2_starts1[i], 32, count);
  }
}
static void polydl_gemm2_run_001(const float *a, const float *b, float *c, long count)
{
  for (int i = 0; i < 2; ++i) {
    polydl_gemm2_block0_2x6(a + 0, b + polydl_gemm2_starts0[i], c + 0 + polydl_gemm2_starts1[i], 8, count);
    polydl_gemm2_block0_2x6(a + 16, b + polydl_gemm2_starts0[i], c + 16 + polydl_gemm2_starts1[i], 8, count);
  }
}
static void polydl_gemm2_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  (void)last_m;
  (void)last_n;
  (void)first;
  if (!last_k)
    polydl_gemm2_run_000(a, b, c, count);
  if (last_k)
    polydl_gemm2_run_001(a, b, c, count);
}

/* C = beta C + alpha A B, as PolyBench writes it. */
#define gemm polydl_tuned_gemm
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void gemm(float alpha, float beta, float C[48][64], const float A[48][40], const float B[40][64])
{
  {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    float A_operand[48][40] __attribute__((aligned(64)));
    #pragma omp parallel for
    for (int A_operand_0 = 0; A_operand_0 <= 47; ++A_operand_0) {
      #pragma omp simd simdlen(8)
      for (int A_operand_1 = 0; A_operand_1 <= 39; ++A_operand_1) {
        A_operand[A_operand_0][A_operand_1] = alpha * A[A_operand_0][A_operand_1];
      }
    }
    for (int i_t1 = 0; i_t1 <= 3; ++i_t1) {
      polydl_between();
      #pragma omp parallel for
      for (int j_t1 = 0; j_t1 <= 1; ++j_t1) {
        for (int polydl_c4 = 12 * i_t1; polydl_c4 <= ((12 * i_t1) + 11); ++polydl_c4) {
          #pragma omp simd simdlen(8)
          for (int j = 32 * j_t1; j <= ((32 * j_t1) + 31); ++j) {
            C[polydl_c4][j] *= beta;
          }
        }
        for (int polydl_c4 = 0; polydl_c4 <= 1; ++polydl_c4) {
          polydl_gemm2_run(&B[32 * polydl_c4][32 * j_t1], &A_operand[12 * i_t1][32 * polydl_c4], &C[12 * i_t1][32 * j_t1], 0, 0, polydl_c4 == 1, 1, 0);
        }
      }
    }
    polydl_end(&polydl_call);
  }
}
#undef gemm

/* for all processors */
void gemm(float alpha, float beta, float C[48][64], const float A[48][40], const float B[40][64])
{
  if (polydl_fits()) {
    polydl_tuned_gemm(alpha, beta, C, A, B);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 0; i < 48; i++) {
    for (int j = 0; j < 64; j++)
      C[i][j] *= beta;
    for (int k = 0; k < 40; k++)
      for (int j = 0; j < 64; j++)
        C[i][j] += alpha * A[i][k] * B[k][j];
  }
#endif
}
void gemm_release(void);
void gemm_release(void)
{
}
const char *gemm_missing(void);
const char *gemm_missing(void)
{
  return polydl_missing();
}
/* for this one */
