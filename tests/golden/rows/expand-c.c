#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
static const long polydl_gemm1_offsets_a[1] = {0};
static const long polydl_gemm1_offsets_b[1] = {0};
typedef double polydl_gemm1_vector4 __attribute__((vector_size(32), aligned(sizeof(double)), may_alias));
static inline void polydl_gemm1_block0_2x6(const double *a, const double *b, double *c, long k, long count)
{
  polydl_gemm1_vector4 c0_0 = *(const polydl_gemm1_vector4 *)(c + 0);
  polydl_gemm1_vector4 c1_0 = *(const polydl_gemm1_vector4 *)(c + 4);
  polydl_gemm1_vector4 c0_1 = *(const polydl_gemm1_vector4 *)(c + 16);
  polydl_gemm1_vector4 c1_1 = *(const polydl_gemm1_vector4 *)(c + 20);
  polydl_gemm1_vector4 c0_2 = *(const polydl_gemm1_vector4 *)(c + 32);
  polydl_gemm1_vector4 c1_2 = *(const polydl_gemm1_vector4 *)(c + 36);
  polydl_gemm1_vector4 c0_3 = *(const polydl_gemm1_vector4 *)(c + 48);
  polydl_gemm1_vector4 c1_3 = *(const polydl_gemm1_vector4 *)(c + 52);
  polydl_gemm1_vector4 c0_4 = *(const polydl_gemm1_vector4 *)(c + 64);
  polydl_gemm1_vector4 c1_4 = *(const polydl_gemm1_vector4 *)(c + 68);
  polydl_gemm1_vector4 c0_5 = *(const polydl_gemm1_vector4 *)(c + 80);
  polydl_gemm1_vector4 c1_5 = *(const polydl_gemm1_vector4 *)(c + 84);
  for (long r = 0; r < count; ++r) {
    const double *ar = a + polydl_gemm1_offsets_a[r];
    const double *br = b + polydl_gemm1_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 16 + 0);
      const polydl_gemm1_vector4 a0 = *(const polydl_gemm1_vector4 *)(ar + l * 16 + 0);
      const polydl_gemm1_vector4 a1 = *(const polydl_gemm1_vector4 *)(ar + l * 16 + 4);
      const double *bl = br + l * 1;
      const double b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0;
      const double b1 = bl[16]; c0_1 += a0 * b1; c1_1 += a1 * b1;
      const double b2 = bl[32]; c0_2 += a0 * b2; c1_2 += a1 * b2;
      const double b3 = bl[48]; c0_3 += a0 * b3; c1_3 += a1 * b3;
      const double b4 = bl[64]; c0_4 += a0 * b4; c1_4 += a1 * b4;
      const double b5 = bl[80]; c0_5 += a0 * b5; c1_5 += a1 * b5;
    }
  }
  *(polydl_gemm1_vector4 *)(c + 0) = c0_0;
  *(polydl_gemm1_vector4 *)(c + 4) = c1_0;
  *(polydl_gemm1_vector4 *)(c + 16) = c0_1;
  *(polydl_gemm1_vector4 *)(c + 20) = c1_1;
  *(polydl_gemm1_vector4 *)(c + 32) = c0_2;
  *(polydl_gemm1_vector4 *)(c + 36) = c1_2;
  *(polydl_gemm1_vector4 *)(c + 48) = c0_3;
  *(polydl_gemm1_vector4 *)(c + 52) = c1_3;
  *(polydl_gemm1_vector4 *)(c + 64) = c0_4;
  *(polydl_gemm1_vector4 *)(c + 68) = c1_4;
  *(polydl_gemm1_vector4 *)(c + 80) = c0_5;
  *(polydl_gemm1_vector4 *)(c + 84) = c1_5;
}
static void polydl_gemm1_run_000(const double *a, const double *b, double *c, long count)
{
  polydl_gemm1_block0_2x6(a + 0, b + 0, c + 0 + 0, 16, count);
  polydl_gemm1_block0_2x6(a + 8, b + 0, c + 8 + 0, 16, count);
}
static void polydl_gemm1_run(const double *a, const double *b, double *c, int last_m, int last_n, int last_k, long count, int first)
{
  (void)last_m;
  (void)last_n;
  (void)last_k;
  (void)first;
  if (1)
    polydl_gemm1_run_000(a, b, c, count);
}

/* A row is multiplied by a matrix, in a vector that each row uses anew, and takes its place. */
#define rows polydl_tuned_rows
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void rows(double a[4][12][16], double b[16][16], double row[16]) {
  {
    double row_expanded[12][16] __attribute__((aligned(64)));
    for (int r = 0; r <= 3; ++r) {
      for (int polydl_c3 = 0; polydl_c3 <= 11; ++polydl_c3) {
        #pragma omp simd simdlen(4)
        for (int p = 0; p <= 15; ++p) {
          row_expanded[polydl_c3][p] = 0;
        }
      }
      for (int polydl_c3 = 0; polydl_c3 <= 1; ++polydl_c3) {
        polydl_gemm1_run(&b[0][0], &a[r][6 * polydl_c3][0], &row_expanded[6 * polydl_c3][0], 0, 0, 0, 1, 0);
      }
      for (int polydl_c3 = 0; polydl_c3 <= 11; ++polydl_c3) {
        #pragma omp simd simdlen(4)
        for (int p = 0; p <= 15; ++p) {
          a[r][polydl_c3][p] = row_expanded[polydl_c3][p];
        }
      }
    }
    #pragma omp simd simdlen(4)
    for (int row_0 = 0; row_0 <= 15; ++row_0) {
      row[row_0] = row_expanded[11][row_0];
    }
  }
}
#undef rows

/* for all processors */
void rows(double a[4][12][16], double b[16][16], double row[16]) {
  if (polydl_fits()) {
    polydl_tuned_rows(a, b, row);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int r = 0; r < 4; r++)
    for (int q = 0; q < 12; q++) {
      for (int p = 0; p < 16; p++) {
        row[p] = 0;
        for (int s = 0; s < 16; s++)
          row[p] += a[r][q][s] * b[s][p];
      }
      for (int p = 0; p < 16; p++)
        a[r][q][p] = row[p];
    }
#endif
}
void rows_release(void);
void rows_release(void)
{
}
const char *rows_missing(void);
const char *rows_missing(void)
{
  return polydl_missing();
}
/* for this one */
