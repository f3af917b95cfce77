#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
/* team */
static struct polydl_team polydl_team;
static const long polydl_gemm0_offsets_a[1] = {0};
static const long polydl_gemm0_offsets_b[1] = {0};
typedef double polydl_gemm0_vector8 __attribute__((vector_size(64), aligned(sizeof(double)), may_alias));
static const long polydl_gemm0_starts0[2] = {0, 80};
static const long polydl_gemm0_starts1[2] = {0, 120};
static inline void polydl_gemm0_block0_3x5(const double *a, const double *b, double *c, long k, long count)
{
  polydl_gemm0_vector8 c0_0 = *(const polydl_gemm0_vector8 *)(c + 0);
  polydl_gemm0_vector8 c1_0 = *(const polydl_gemm0_vector8 *)(c + 8);
  polydl_gemm0_vector8 c2_0 = *(const polydl_gemm0_vector8 *)(c + 16);
  polydl_gemm0_vector8 c0_1 = *(const polydl_gemm0_vector8 *)(c + 24);
  polydl_gemm0_vector8 c1_1 = *(const polydl_gemm0_vector8 *)(c + 32);
  polydl_gemm0_vector8 c2_1 = *(const polydl_gemm0_vector8 *)(c + 40);
  polydl_gemm0_vector8 c0_2 = *(const polydl_gemm0_vector8 *)(c + 48);
  polydl_gemm0_vector8 c1_2 = *(const polydl_gemm0_vector8 *)(c + 56);
  polydl_gemm0_vector8 c2_2 = *(const polydl_gemm0_vector8 *)(c + 64);
  polydl_gemm0_vector8 c0_3 = *(const polydl_gemm0_vector8 *)(c + 72);
  polydl_gemm0_vector8 c1_3 = *(const polydl_gemm0_vector8 *)(c + 80);
  polydl_gemm0_vector8 c2_3 = *(const polydl_gemm0_vector8 *)(c + 88);
  polydl_gemm0_vector8 c0_4 = *(const polydl_gemm0_vector8 *)(c + 96);
  polydl_gemm0_vector8 c1_4 = *(const polydl_gemm0_vector8 *)(c + 104);
  polydl_gemm0_vector8 c2_4 = *(const polydl_gemm0_vector8 *)(c + 112);
  for (long r = 0; r < count; ++r) {
    const double *ar = a + polydl_gemm0_offsets_a[r];
    const double *br = b + polydl_gemm0_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 24 + 0);
      const polydl_gemm0_vector8 a0 = *(const polydl_gemm0_vector8 *)(ar + l * 24 + 0);
      __builtin_prefetch(ar + (l + 8) * 24 + 8);
      const polydl_gemm0_vector8 a1 = *(const polydl_gemm0_vector8 *)(ar + l * 24 + 8);
      __builtin_prefetch(ar + (l + 8) * 24 + 16);
      const polydl_gemm0_vector8 a2 = *(const polydl_gemm0_vector8 *)(ar + l * 24 + 16);
      const double *bl = br + l * 1;
      const double b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0; c2_0 += a2 * b0;
      const double b1 = bl[16]; c0_1 += a0 * b1; c1_1 += a1 * b1; c2_1 += a2 * b1;
      const double b2 = bl[32]; c0_2 += a0 * b2; c1_2 += a1 * b2; c2_2 += a2 * b2;
      const double b3 = bl[48]; c0_3 += a0 * b3; c1_3 += a1 * b3; c2_3 += a2 * b3;
      const double b4 = bl[64]; c0_4 += a0 * b4; c1_4 += a1 * b4; c2_4 += a2 * b4;
    }
  }
  *(polydl_gemm0_vector8 *)(c + 0) = c0_0;
  *(polydl_gemm0_vector8 *)(c + 8) = c1_0;
  *(polydl_gemm0_vector8 *)(c + 16) = c2_0;
  *(polydl_gemm0_vector8 *)(c + 24) = c0_1;
  *(polydl_gemm0_vector8 *)(c + 32) = c1_1;
  *(polydl_gemm0_vector8 *)(c + 40) = c2_1;
  *(polydl_gemm0_vector8 *)(c + 48) = c0_2;
  *(polydl_gemm0_vector8 *)(c + 56) = c1_2;
  *(polydl_gemm0_vector8 *)(c + 64) = c2_2;
  *(polydl_gemm0_vector8 *)(c + 72) = c0_3;
  *(polydl_gemm0_vector8 *)(c + 80) = c1_3;
  *(polydl_gemm0_vector8 *)(c + 88) = c2_3;
  *(polydl_gemm0_vector8 *)(c + 96) = c0_4;
  *(polydl_gemm0_vector8 *)(c + 104) = c1_4;
  *(polydl_gemm0_vector8 *)(c + 112) = c2_4;
}
static void polydl_gemm0_run_000(const double *a, const double *b, double *c, long count)
{
  for (int i = 0; i < 2; ++i) {
    polydl_gemm0_block0_3x5(a + 0, b + polydl_gemm0_starts0[i], c + 0 + polydl_gemm0_starts1[i], 16, count);
  }
}
static void polydl_gemm0_run(const double *a, const double *b, double *c, int last_m, int last_n, int last_k, long count, int first)
{
  (void)last_m;
  (void)last_n;
  (void)last_k;
  (void)first;
  if (1)
    polydl_gemm0_run_000(a, b, c, count);
}

/* A product with a triangular matrix in blocks, and a pass over a triangle. */
#define triangle polydl_tuned_triangle
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void triangle(double C[4][40][24], double D[61][61], const double A[4][4][40][16], const double B[4][16][24])
{
  {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    #pragma omp parallel for
    for (int it = 0; it <= 3; ++it) {
      for (int kt = 0; kt <= it; ++kt) {
        for (int i_t1 = 0; i_t1 <= 3; ++i_t1) {
          polydl_gemm0_run(&B[kt][0][0], &A[it][kt][10 * i_t1][0], &C[it][10 * i_t1][0], 0, 0, 0, 1, 0);
        }
      }
    }
    polydl_between();
    #pragma omp parallel for
    for (int i = 0; i <= 60; ++i) {
      #pragma omp simd simdlen(4)
      for (int j = 0; j <= i; ++j) {
        D[i][j] = (2.0 * D[i][j]) + 1.0;
      }
    }
    polydl_end(&polydl_call);
  }
}
#undef triangle

/* for all processors */
void triangle(double C[4][40][24], double D[61][61], const double A[4][4][40][16], const double B[4][16][24])
{
  if (polydl_fits()) {
    polydl_tuned_triangle(C, D, A, B);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int it = 0; it < 4; it++)
    for (int kt = 0; kt <= it; kt++)
      for (int i = 0; i < 40; i++)
        for (int k = 0; k < 16; k++)
          for (int j = 0; j < 24; j++)
            C[it][i][j] += A[it][kt][i][k] * B[kt][k][j];
  for (int i = 0; i < 61; i++)
    for (int j = 0; j <= i; j++)
      D[i][j] = 2.0 * D[i][j] + 1.0;
#endif
}
void triangle_release(void);
void triangle_release(void)
{
}
const char *triangle_missing(void);
const char *triangle_missing(void)
{
  return polydl_missing();
}
/* for this one */
