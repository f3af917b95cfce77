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
typedef double polydl_gemm1_vector4 __attribute__((vector_size(32), aligned(sizeof(double)), may_alias));
typedef double polydl_gemm1_vector2 __attribute__((vector_size(16), aligned(sizeof(double)), may_alias));
static const long polydl_gemm1_starts0[2] = {0, 123};
static const long polydl_gemm1_starts1[2] = {0, 150};
static inline void polydl_gemm1_block0_3x3(const double *a, const double *b, double *c, long k, long count)
{
  polydl_gemm1_vector4 c0_0 = *(const polydl_gemm1_vector4 *)(c + 0);
  polydl_gemm1_vector4 c1_0 = *(const polydl_gemm1_vector4 *)(c + 4);
  polydl_gemm1_vector4 c2_0 = *(const polydl_gemm1_vector4 *)(c + 8);
  polydl_gemm1_vector4 c0_1 = *(const polydl_gemm1_vector4 *)(c + 50);
  polydl_gemm1_vector4 c1_1 = *(const polydl_gemm1_vector4 *)(c + 54);
  polydl_gemm1_vector4 c2_1 = *(const polydl_gemm1_vector4 *)(c + 58);
  polydl_gemm1_vector4 c0_2 = *(const polydl_gemm1_vector4 *)(c + 100);
  polydl_gemm1_vector4 c1_2 = *(const polydl_gemm1_vector4 *)(c + 104);
  polydl_gemm1_vector4 c2_2 = *(const polydl_gemm1_vector4 *)(c + 108);
  for (long r = 0; r < count; ++r) {
    const double *ar = a + polydl_gemm1_offsets_a[r];
    const double *br = b + polydl_gemm1_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 50 + 0);
      const polydl_gemm1_vector4 a0 = *(const polydl_gemm1_vector4 *)(ar + l * 50 + 0);
      const polydl_gemm1_vector4 a1 = *(const polydl_gemm1_vector4 *)(ar + l * 50 + 4);
      __builtin_prefetch(ar + (l + 8) * 50 + 8);
      const polydl_gemm1_vector4 a2 = *(const polydl_gemm1_vector4 *)(ar + l * 50 + 8);
      const double *bl = br + l * 1;
      const double b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0; c2_0 += a2 * b0;
      const double b1 = bl[41]; c0_1 += a0 * b1; c1_1 += a1 * b1; c2_1 += a2 * b1;
      const double b2 = bl[82]; c0_2 += a0 * b2; c1_2 += a1 * b2; c2_2 += a2 * b2;
    }
  }
  *(polydl_gemm1_vector4 *)(c + 0) = c0_0;
  *(polydl_gemm1_vector4 *)(c + 4) = c1_0;
  *(polydl_gemm1_vector4 *)(c + 8) = c2_0;
  *(polydl_gemm1_vector4 *)(c + 50) = c0_1;
  *(polydl_gemm1_vector4 *)(c + 54) = c1_1;
  *(polydl_gemm1_vector4 *)(c + 58) = c2_1;
  *(polydl_gemm1_vector4 *)(c + 100) = c0_2;
  *(polydl_gemm1_vector4 *)(c + 104) = c1_2;
  *(polydl_gemm1_vector4 *)(c + 108) = c2_2;
}
static inline void polydl_gemm1_block1_3x1(const double *a, const double *b, double *c, long k, long count)
{
  polydl_gemm1_vector4 c0_0 = *(const polydl_gemm1_vector4 *)(c + 0);
  polydl_gemm1_vector4 c1_0 = *(const polydl_gemm1_vector4 *)(c + 4);
  polydl_gemm1_vector4 c2_0 = *(const polydl_gemm1_vector4 *)(c + 8);
  for (long r = 0; r < count; ++r) {
    const double *ar = a + polydl_gemm1_offsets_a[r];
    const double *br = b + polydl_gemm1_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 50 + 0);
      const polydl_gemm1_vector4 a0 = *(const polydl_gemm1_vector4 *)(ar + l * 50 + 0);
      const polydl_gemm1_vector4 a1 = *(const polydl_gemm1_vector4 *)(ar + l * 50 + 4);
      __builtin_prefetch(ar + (l + 8) * 50 + 8);
      const polydl_gemm1_vector4 a2 = *(const polydl_gemm1_vector4 *)(ar + l * 50 + 8);
      const double *bl = br + l * 1;
      const double b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0; c2_0 += a2 * b0;
    }
  }
  *(polydl_gemm1_vector4 *)(c + 0) = c0_0;
  *(polydl_gemm1_vector4 *)(c + 4) = c1_0;
  *(polydl_gemm1_vector4 *)(c + 8) = c2_0;
}
static inline void polydl_gemm1_block2_1x6(const double *a, const double *b, double *c, long k, long count)
{
  polydl_gemm1_vector2 c0_0 = *(const polydl_gemm1_vector2 *)(c + 0);
  polydl_gemm1_vector2 c0_1 = *(const polydl_gemm1_vector2 *)(c + 50);
  polydl_gemm1_vector2 c0_2 = *(const polydl_gemm1_vector2 *)(c + 100);
  polydl_gemm1_vector2 c0_3 = *(const polydl_gemm1_vector2 *)(c + 150);
  polydl_gemm1_vector2 c0_4 = *(const polydl_gemm1_vector2 *)(c + 200);
  polydl_gemm1_vector2 c0_5 = *(const polydl_gemm1_vector2 *)(c + 250);
  for (long r = 0; r < count; ++r) {
    const double *ar = a + polydl_gemm1_offsets_a[r];
    const double *br = b + polydl_gemm1_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 50 + 0);
      const polydl_gemm1_vector2 a0 = *(const polydl_gemm1_vector2 *)(ar + l * 50 + 0);
      const double *bl = br + l * 1;
      const double b0 = bl[0]; c0_0 += a0 * b0;
      const double b1 = bl[41]; c0_1 += a0 * b1;
      const double b2 = bl[82]; c0_2 += a0 * b2;
      const double b3 = bl[123]; c0_3 += a0 * b3;
      const double b4 = bl[164]; c0_4 += a0 * b4;
      const double b5 = bl[205]; c0_5 += a0 * b5;
    }
  }
  *(polydl_gemm1_vector2 *)(c + 0) = c0_0;
  *(polydl_gemm1_vector2 *)(c + 50) = c0_1;
  *(polydl_gemm1_vector2 *)(c + 100) = c0_2;
  *(polydl_gemm1_vector2 *)(c + 150) = c0_3;
  *(polydl_gemm1_vector2 *)(c + 200) = c0_4;
  *(polydl_gemm1_vector2 *)(c + 250) = c0_5;
}
static inline void polydl_gemm1_block3_1x1(const double *a, const double *b, double *c, long k, long count)
{
  polydl_gemm1_vector2 c0_0 = *(const polydl_gemm1_vector2 *)(c + 0);
  for (long r = 0; r < count; ++r) {
    const double *ar = a + polydl_gemm1_offsets_a[r];
    const double *br = b + polydl_gemm1_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 50 + 0);
      const polydl_gemm1_vector2 a0 = *(const polydl_gemm1_vector2 *)(ar + l * 50 + 0);
      const double *bl = br + l * 1;
      const double b0 = bl[0]; c0_0 += a0 * b0;
    }
  }
  *(polydl_gemm1_vector2 *)(c + 0) = c0_0;
}
static void polydl_gemm1_run_000(const double *a, const double *b, double *c, long count)
{
  for (int i = 0; i < 2; ++i) {
    polydl_gemm1_block0_3x3(a + 0, b + polydl_gemm1_starts0[i], c + 0 + polydl_gemm1_starts1[i], 41, count);
  }
}
static void polydl_gemm1_run_010(const double *a, const double *b, double *c, long count)
{
  polydl_gemm1_block1_3x1(a + 0, b + 0, c + 0 + 0, 41, count);
}
static void polydl_gemm1_run_100(const double *a, const double *b, double *c, long count)
{
  polydl_gemm1_block2_1x6(a + 0, b + 0, c + 0 + 0, 41, count);
}
static void polydl_gemm1_run_110(const double *a, const double *b, double *c, long count)
{
  polydl_gemm1_block3_1x1(a + 0, b + 0, c + 0 + 0, 41, count);
}
static void polydl_gemm1_run(const double *a, const double *b, double *c, int last_m, int last_n, int last_k, long count, int first)
{
  (void)last_k;
  (void)first;
  if (!last_m && !last_n)
    polydl_gemm1_run_000(a, b, c, count);
  if (!last_m && last_n)
    polydl_gemm1_run_010(a, b, c, count);
  if (last_m && !last_n)
    polydl_gemm1_run_100(a, b, c, count);
  if (last_m && last_n)
    polydl_gemm1_run_110(a, b, c, count);
}

/* A product of sizes that no vector and no tile divides, summed in a local scalar. */
#define matmul_tails polydl_tuned_matmul_tails
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void matmul_tails(int n, double C[37][n], const double A[37][41], const double B[41][n], double factor)
{
  if (n == 50) {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    #pragma omp parallel for
    for (int i = 0; i <= 36; ++i) {
      #pragma omp simd simdlen(4)
      for (int j = 0; j <= 49; ++j) {
        C[i][j] = 0;
      }
    }
    polydl_between();
    #pragma omp parallel for collapse(2)
    for (int i_t1 = 0; i_t1 <= 6; ++i_t1) {
      for (int j_t1 = 0; j_t1 <= 4; ++j_t1) {
        polydl_gemm1_run(&B[0][12 * j_t1], &A[6 * i_t1][0], &C[6 * i_t1][12 * j_t1], j_t1 == 4, i_t1 == 6, 0, 1, 0);
      }
    }
    polydl_between();
    #pragma omp parallel for
    for (int i = 0; i <= 36; ++i) {
      #pragma omp simd simdlen(4)
      for (int j = 0; j <= 49; ++j) {
        C[i][j] = factor * C[i][j];
      }
    }
    polydl_end(&polydl_call);
  } else {
  for (int i = 0; i < 37; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < 41; k++)
        sum += A[i][k] * B[k][j];
      C[i][j] = factor * sum;
    }
  }
}
#undef matmul_tails

/* for all processors */
void matmul_tails(int n, double C[37][n], const double A[37][41], const double B[41][n], double factor)
{
  if (polydl_fits()) {
    polydl_tuned_matmul_tails(n, C, A, B, factor);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 0; i < 37; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < 41; k++)
        sum += A[i][k] * B[k][j];
      C[i][j] = factor * sum;
    }
#endif
}
void matmul_tails_release(void);
void matmul_tails_release(void)
{
}
const char *matmul_tails_missing(void);
const char *matmul_tails_missing(void)
{
  return polydl_missing();
}
/* for this one */
