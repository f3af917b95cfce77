#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
/* team */
static struct polydl_team polydl_team;
static const long polydl_gemm1_offsets_a[1] = {0};
static const long polydl_gemm1_offsets_b[1] = {0};
typedef float polydl_gemm1_vector8 __attribute__((vector_size(32), aligned(sizeof(float)), may_alias));
static const long polydl_gemm1_starts0[16] = {0, 512, 1024, 1536, 2048, 2560, 3072, 3584, 4096, 4608, 5120, 5632, 6144, 6656, 7168, 7680};
static const long polydl_gemm1_starts1[16] = {0, 384, 768, 1152, 1536, 1920, 2304, 2688, 3072, 3456, 3840, 4224, 4608, 4992, 5376, 5760};
static inline void polydl_gemm1_block0_3x4(const float *a, const float *b, float *c, long k, long count)
{
  polydl_gemm1_vector8 c0_0 = *(const polydl_gemm1_vector8 *)(c + 0);
  polydl_gemm1_vector8 c1_0 = *(const polydl_gemm1_vector8 *)(c + 8);
  polydl_gemm1_vector8 c2_0 = *(const polydl_gemm1_vector8 *)(c + 16);
  polydl_gemm1_vector8 c0_1 = *(const polydl_gemm1_vector8 *)(c + 96);
  polydl_gemm1_vector8 c1_1 = *(const polydl_gemm1_vector8 *)(c + 104);
  polydl_gemm1_vector8 c2_1 = *(const polydl_gemm1_vector8 *)(c + 112);
  polydl_gemm1_vector8 c0_2 = *(const polydl_gemm1_vector8 *)(c + 192);
  polydl_gemm1_vector8 c1_2 = *(const polydl_gemm1_vector8 *)(c + 200);
  polydl_gemm1_vector8 c2_2 = *(const polydl_gemm1_vector8 *)(c + 208);
  polydl_gemm1_vector8 c0_3 = *(const polydl_gemm1_vector8 *)(c + 288);
  polydl_gemm1_vector8 c1_3 = *(const polydl_gemm1_vector8 *)(c + 296);
  polydl_gemm1_vector8 c2_3 = *(const polydl_gemm1_vector8 *)(c + 304);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm1_offsets_a[r];
    const float *br = b + polydl_gemm1_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 96 + 0);
      const polydl_gemm1_vector8 a0 = *(const polydl_gemm1_vector8 *)(ar + l * 96 + 0);
      const polydl_gemm1_vector8 a1 = *(const polydl_gemm1_vector8 *)(ar + l * 96 + 8);
      __builtin_prefetch(ar + (l + 8) * 96 + 16);
      const polydl_gemm1_vector8 a2 = *(const polydl_gemm1_vector8 *)(ar + l * 96 + 16);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0; c2_0 += a2 * b0;
      const float b1 = bl[128]; c0_1 += a0 * b1; c1_1 += a1 * b1; c2_1 += a2 * b1;
      const float b2 = bl[256]; c0_2 += a0 * b2; c1_2 += a1 * b2; c2_2 += a2 * b2;
      const float b3 = bl[384]; c0_3 += a0 * b3; c1_3 += a1 * b3; c2_3 += a2 * b3;
    }
  }
  *(polydl_gemm1_vector8 *)(c + 0) = c0_0;
  *(polydl_gemm1_vector8 *)(c + 8) = c1_0;
  *(polydl_gemm1_vector8 *)(c + 16) = c2_0;
  *(polydl_gemm1_vector8 *)(c + 96) = c0_1;
  *(polydl_gemm1_vector8 *)(c + 104) = c1_1;
  *(polydl_gemm1_vector8 *)(c + 112) = c2_1;
  *(polydl_gemm1_vector8 *)(c + 192) = c0_2;
  *(polydl_gemm1_vector8 *)(c + 200) = c1_2;
  *(polydl_gemm1_vector8 *)(c + 208) = c2_2;
  *(polydl_gemm1_vector8 *)(c + 288) = c0_3;
  *(polydl_gemm1_vector8 *)(c + 296) = c1_3;
  *(polydl_gemm1_vector8 *)(c + 304) = c2_3;
}
static void polydl_gemm1_run_000(const float *a, const float *b, float *c, long count)
{
  for (int i = 0; i < 16; ++i) {
    polydl_gemm1_block0_3x4(a + 0, b + polydl_gemm1_starts0[i], c + 0 + polydl_gemm1_starts1[i], 128, count);
  }
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

/* A product from zero with ReLU behind it. */
#define matmul_relu polydl_tuned_matmul_relu
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void matmul_relu(float C[64][96], const float A[64][128], const float B[128][96])
{
  {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    #pragma omp parallel for
    for (int i = 0; i <= 63; ++i) {
      #pragma omp simd simdlen(8)
      for (int j = 0; j <= 95; ++j) {
        C[i][j] = 0.0f;
      }
    }
    polydl_between();
    #pragma omp parallel for
    for (int j_t1 = 0; j_t1 <= 3; ++j_t1) {
      polydl_gemm1_run(&B[0][24 * j_t1], &A[0][0], &C[0][24 * j_t1], 0, 0, 0, 1, 0);
    }
    polydl_between();
    #pragma omp parallel for
    for (int i = 0; i <= 63; ++i) {
      #pragma omp simd simdlen(8)
      for (int j = 0; j <= 95; ++j) {
        C[i][j] = (C[i][j] > 0.0f) ? C[i][j] : 0.0f;
      }
    }
    polydl_end(&polydl_call);
  }
}
#undef matmul_relu

/* for all processors */
void matmul_relu(float C[64][96], const float A[64][128], const float B[128][96])
{
  if (polydl_fits()) {
    polydl_tuned_matmul_relu(C, A, B);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 96; ++j)
      C[i][j] = 0.0f;
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 96; ++j)
      for (int k = 0; k < 128; ++k)
        C[i][j] += A[i][k] * B[k][j];
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 96; ++j)
      C[i][j] = C[i][j] > 0.0f ? C[i][j] : 0.0f;
#endif
}
void matmul_relu_release(void);
void matmul_relu_release(void)
{
}
const char *matmul_relu_missing(void);
const char *matmul_relu_missing(void)
{
  return polydl_missing();
}
/* for this one */
