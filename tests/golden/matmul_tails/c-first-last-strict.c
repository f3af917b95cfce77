#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"

/* processor */
static inline int polydl_min(int a, int b) { return a < b ? a : b; }
struct polydl_gemm1_operands { double *x0; const double *x1; };
static inline __attribute__((always_inline, unused)) void polydl_gemm1_finished(const double *sums, double *x0, const double *x1, long rows)
{
  #pragma omp simd simdlen(4)
  for (long i = 0; i < rows; ++i) {
    double polydl_element = sums[i];
    polydl_element = x1[0] * polydl_element;
    x0[i] = polydl_element;
  }
}
static inline __attribute__((always_inline, unused)) void polydl_gemm1_after_column(const struct polydl_gemm1_operands *operands, const double *sums, long first, long row, long rows)
{
  const long j = first;
  double *x0 = operands->x0 + 50 * j + row;
  const double *x1 = operands->x1;
  polydl_gemm1_finished(sums, x0, x1, rows);
}
static inline void polydl_gemm1_after(const struct polydl_gemm1_operands *operands, const double *sums, long apart, long first, long columns, long row, long rows)
{
  while (columns > 0) {
    const long j = first;
    const long length = columns;
    double *x0 = operands->x0 + 50 * j + row;
    const double *x1 = operands->x1;
    for (long column = 0; column < length; ++column, sums += apart, x0 += 50)
      polydl_gemm1_finished(sums, x0, x1, rows);
    first += length;
    columns -= length;
  }
}
static const long polydl_gemm1_offsets_a[1] = {0};
static const long polydl_gemm1_offsets_b[1] = {0};
typedef double polydl_gemm1_vector4 __attribute__((vector_size(32), aligned(sizeof(double)), may_alias));
typedef double polydl_gemm1_vector2 __attribute__((vector_size(16), aligned(sizeof(double)), may_alias));
static inline void polydl_gemm1_block0_2x6(const double *a, const double *b, double *c, long k, long count, int first, int last, const struct polydl_gemm1_operands *operands, long column, long row)
{
  polydl_gemm1_vector4 c0_0 = first ? (polydl_gemm1_vector4){0} : *(const polydl_gemm1_vector4 *)(c + 0);
  polydl_gemm1_vector4 c1_0 = first ? (polydl_gemm1_vector4){0} : *(const polydl_gemm1_vector4 *)(c + 4);
  polydl_gemm1_vector4 c0_1 = first ? (polydl_gemm1_vector4){0} : *(const polydl_gemm1_vector4 *)(c + 50);
  polydl_gemm1_vector4 c1_1 = first ? (polydl_gemm1_vector4){0} : *(const polydl_gemm1_vector4 *)(c + 54);
  polydl_gemm1_vector4 c0_2 = first ? (polydl_gemm1_vector4){0} : *(const polydl_gemm1_vector4 *)(c + 100);
  polydl_gemm1_vector4 c1_2 = first ? (polydl_gemm1_vector4){0} : *(const polydl_gemm1_vector4 *)(c + 104);
  polydl_gemm1_vector4 c0_3 = first ? (polydl_gemm1_vector4){0} : *(const polydl_gemm1_vector4 *)(c + 150);
  polydl_gemm1_vector4 c1_3 = first ? (polydl_gemm1_vector4){0} : *(const polydl_gemm1_vector4 *)(c + 154);
  polydl_gemm1_vector4 c0_4 = first ? (polydl_gemm1_vector4){0} : *(const polydl_gemm1_vector4 *)(c + 200);
  polydl_gemm1_vector4 c1_4 = first ? (polydl_gemm1_vector4){0} : *(const polydl_gemm1_vector4 *)(c + 204);
  polydl_gemm1_vector4 c0_5 = first ? (polydl_gemm1_vector4){0} : *(const polydl_gemm1_vector4 *)(c + 250);
  polydl_gemm1_vector4 c1_5 = first ? (polydl_gemm1_vector4){0} : *(const polydl_gemm1_vector4 *)(c + 254);
  for (long r = 0; r < count; ++r) {
    const double *ar = a + polydl_gemm1_offsets_a[r];
    const double *br = b + polydl_gemm1_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 50 + 0);
      const polydl_gemm1_vector4 a0 = *(const polydl_gemm1_vector4 *)(ar + l * 50 + 0);
      const polydl_gemm1_vector4 a1 = *(const polydl_gemm1_vector4 *)(ar + l * 50 + 4);
      const double *bl = br + l * 1;
      const double b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0;
      const double b1 = bl[41]; c0_1 += a0 * b1; c1_1 += a1 * b1;
      const double b2 = bl[82]; c0_2 += a0 * b2; c1_2 += a1 * b2;
      const double b3 = bl[123]; c0_3 += a0 * b3; c1_3 += a1 * b3;
      const double b4 = bl[164]; c0_4 += a0 * b4; c1_4 += a1 * b4;
      const double b5 = bl[205]; c0_5 += a0 * b5; c1_5 += a1 * b5;
    }
  }
  if (last) {
    { double sums[4] __attribute__((aligned(64)));
      *(polydl_gemm1_vector4 *)sums = c0_0;
      polydl_gemm1_after_column(operands, sums, column + 0, row + 0, 4); }
    { double sums[4] __attribute__((aligned(64)));
      *(polydl_gemm1_vector4 *)sums = c1_0;
      polydl_gemm1_after_column(operands, sums, column + 0, row + 4, 4); }
    { double sums[4] __attribute__((aligned(64)));
      *(polydl_gemm1_vector4 *)sums = c0_1;
      polydl_gemm1_after_column(operands, sums, column + 1, row + 0, 4); }
    { double sums[4] __attribute__((aligned(64)));
      *(polydl_gemm1_vector4 *)sums = c1_1;
      polydl_gemm1_after_column(operands, sums, column + 1, row + 4, 4); }
    { double sums[4] __attribute__((aligned(64)));
      *(polydl_gemm1_vector4 *)sums = c0_2;
      polydl_gemm1_after_column(operands, sums, column + 2, row + 0, 4); }
    { double sums[4] __attribute__((aligned(64)));
      *(polydl_gemm1_vector4 *)sums = c1_2;
      polydl_gemm1_after_column(operands, sums, column + 2, row + 4, 4); }
    { double sums[4] __attribute__((aligned(64)));
      *(polydl_gemm1_vector4 *)sums = c0_3;
      polydl_gemm1_after_column(operands, sums, column + 3, row + 0, 4); }
    { double sums[4] __attribute__((aligned(64)));
      *(polydl_gemm1_vector4 *)sums = c1_3;
      polydl_gemm1_after_column(operands, sums, column + 3, row + 4, 4); }
    { double sums[4] __attribute__((aligned(64)));
      *(polydl_gemm1_vector4 *)sums = c0_4;
      polydl_gemm1_after_column(operands, sums, column + 4, row + 0, 4); }
    { double sums[4] __attribute__((aligned(64)));
      *(polydl_gemm1_vector4 *)sums = c1_4;
      polydl_gemm1_after_column(operands, sums, column + 4, row + 4, 4); }
    { double sums[4] __attribute__((aligned(64)));
      *(polydl_gemm1_vector4 *)sums = c0_5;
      polydl_gemm1_after_column(operands, sums, column + 5, row + 0, 4); }
    { double sums[4] __attribute__((aligned(64)));
      *(polydl_gemm1_vector4 *)sums = c1_5;
      polydl_gemm1_after_column(operands, sums, column + 5, row + 4, 4); }
    return;
  }
  *(polydl_gemm1_vector4 *)(c + 0) = c0_0;
  *(polydl_gemm1_vector4 *)(c + 4) = c1_0;
  *(polydl_gemm1_vector4 *)(c + 50) = c0_1;
  *(polydl_gemm1_vector4 *)(c + 54) = c1_1;
  *(polydl_gemm1_vector4 *)(c + 100) = c0_2;
  *(polydl_gemm1_vector4 *)(c + 104) = c1_2;
  *(polydl_gemm1_vector4 *)(c + 150) = c0_3;
  *(polydl_gemm1_vector4 *)(c + 154) = c1_3;
  *(polydl_gemm1_vector4 *)(c + 200) = c0_4;
  *(polydl_gemm1_vector4 *)(c + 204) = c1_4;
  *(polydl_gemm1_vector4 *)(c + 250) = c0_5;
  *(polydl_gemm1_vector4 *)(c + 254) = c1_5;
}
static inline void polydl_gemm1_block1_4x1(const double *a, const double *b, double *c, long k, long count, int first, int last, const struct polydl_gemm1_operands *operands, long column, long row)
{
  polydl_gemm1_vector4 c0_0 = first ? (polydl_gemm1_vector4){0} : *(const polydl_gemm1_vector4 *)(c + 0);
  polydl_gemm1_vector4 c1_0 = first ? (polydl_gemm1_vector4){0} : *(const polydl_gemm1_vector4 *)(c + 4);
  polydl_gemm1_vector4 c2_0 = first ? (polydl_gemm1_vector4){0} : *(const polydl_gemm1_vector4 *)(c + 8);
  polydl_gemm1_vector4 c3_0 = first ? (polydl_gemm1_vector4){0} : *(const polydl_gemm1_vector4 *)(c + 12);
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
      const polydl_gemm1_vector4 a3 = *(const polydl_gemm1_vector4 *)(ar + l * 50 + 12);
      const double *bl = br + l * 1;
      const double b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0; c2_0 += a2 * b0; c3_0 += a3 * b0;
    }
  }
  if (last) {
    { double sums[4] __attribute__((aligned(64)));
      *(polydl_gemm1_vector4 *)sums = c0_0;
      polydl_gemm1_after_column(operands, sums, column + 0, row + 0, 4); }
    { double sums[4] __attribute__((aligned(64)));
      *(polydl_gemm1_vector4 *)sums = c1_0;
      polydl_gemm1_after_column(operands, sums, column + 0, row + 4, 4); }
    { double sums[4] __attribute__((aligned(64)));
      *(polydl_gemm1_vector4 *)sums = c2_0;
      polydl_gemm1_after_column(operands, sums, column + 0, row + 8, 4); }
    { double sums[4] __attribute__((aligned(64)));
      *(polydl_gemm1_vector4 *)sums = c3_0;
      polydl_gemm1_after_column(operands, sums, column + 0, row + 12, 4); }
    return;
  }
  *(polydl_gemm1_vector4 *)(c + 0) = c0_0;
  *(polydl_gemm1_vector4 *)(c + 4) = c1_0;
  *(polydl_gemm1_vector4 *)(c + 8) = c2_0;
  *(polydl_gemm1_vector4 *)(c + 12) = c3_0;
}
static inline void polydl_gemm1_block2_1x6(const double *a, const double *b, double *c, long k, long count, int first, int last, const struct polydl_gemm1_operands *operands, long column, long row)
{
  polydl_gemm1_vector2 c0_0 = first ? (polydl_gemm1_vector2){0} : *(const polydl_gemm1_vector2 *)(c + 0);
  polydl_gemm1_vector2 c0_1 = first ? (polydl_gemm1_vector2){0} : *(const polydl_gemm1_vector2 *)(c + 50);
  polydl_gemm1_vector2 c0_2 = first ? (polydl_gemm1_vector2){0} : *(const polydl_gemm1_vector2 *)(c + 100);
  polydl_gemm1_vector2 c0_3 = first ? (polydl_gemm1_vector2){0} : *(const polydl_gemm1_vector2 *)(c + 150);
  polydl_gemm1_vector2 c0_4 = first ? (polydl_gemm1_vector2){0} : *(const polydl_gemm1_vector2 *)(c + 200);
  polydl_gemm1_vector2 c0_5 = first ? (polydl_gemm1_vector2){0} : *(const polydl_gemm1_vector2 *)(c + 250);
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
  if (last) {
    { double sums[2] __attribute__((aligned(64)));
      *(polydl_gemm1_vector2 *)sums = c0_0;
      polydl_gemm1_after_column(operands, sums, column + 0, row + 0, 2); }
    { double sums[2] __attribute__((aligned(64)));
      *(polydl_gemm1_vector2 *)sums = c0_1;
      polydl_gemm1_after_column(operands, sums, column + 1, row + 0, 2); }
    { double sums[2] __attribute__((aligned(64)));
      *(polydl_gemm1_vector2 *)sums = c0_2;
      polydl_gemm1_after_column(operands, sums, column + 2, row + 0, 2); }
    { double sums[2] __attribute__((aligned(64)));
      *(polydl_gemm1_vector2 *)sums = c0_3;
      polydl_gemm1_after_column(operands, sums, column + 3, row + 0, 2); }
    { double sums[2] __attribute__((aligned(64)));
      *(polydl_gemm1_vector2 *)sums = c0_4;
      polydl_gemm1_after_column(operands, sums, column + 4, row + 0, 2); }
    { double sums[2] __attribute__((aligned(64)));
      *(polydl_gemm1_vector2 *)sums = c0_5;
      polydl_gemm1_after_column(operands, sums, column + 5, row + 0, 2); }
    return;
  }
  *(polydl_gemm1_vector2 *)(c + 0) = c0_0;
  *(polydl_gemm1_vector2 *)(c + 50) = c0_1;
  *(polydl_gemm1_vector2 *)(c + 100) = c0_2;
  *(polydl_gemm1_vector2 *)(c + 150) = c0_3;
  *(polydl_gemm1_vector2 *)(c + 200) = c0_4;
  *(polydl_gemm1_vector2 *)(c + 250) = c0_5;
}
static inline void polydl_gemm1_block3_1x1(const double *a, const double *b, double *c, long k, long count, int first, int last, const struct polydl_gemm1_operands *operands, long column, long row)
{
  polydl_gemm1_vector2 c0_0 = first ? (polydl_gemm1_vector2){0} : *(const polydl_gemm1_vector2 *)(c + 0);
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
  if (last) {
    { double sums[2] __attribute__((aligned(64)));
      *(polydl_gemm1_vector2 *)sums = c0_0;
      polydl_gemm1_after_column(operands, sums, column + 0, row + 0, 2); }
    return;
  }
  *(polydl_gemm1_vector2 *)(c + 0) = c0_0;
}
static void polydl_gemm1_run_000(const double *a, const double *b, double *c, long count, int first, int last, const struct polydl_gemm1_operands *operands)
{
  polydl_gemm1_block0_2x6(a + 0, b + 0, c + 0 + 0, 41, count, first, last, operands, 0, 0);
  polydl_gemm1_block0_2x6(a + 8, b + 0, c + 8 + 0, 41, count, first, last, operands, 0, 8);
}
static void polydl_gemm1_run_010(const double *a, const double *b, double *c, long count, int first, int last, const struct polydl_gemm1_operands *operands)
{
  polydl_gemm1_block1_4x1(a + 0, b + 0, c + 0 + 0, 41, count, first, last, operands, 0, 0);
}
static void polydl_gemm1_run_100(const double *a, const double *b, double *c, long count, int first, int last, const struct polydl_gemm1_operands *operands)
{
  polydl_gemm1_block2_1x6(a + 0, b + 0, c + 0 + 0, 41, count, first, last, operands, 0, 0);
}
static void polydl_gemm1_run_110(const double *a, const double *b, double *c, long count, int first, int last, const struct polydl_gemm1_operands *operands)
{
  polydl_gemm1_block3_1x1(a + 0, b + 0, c + 0 + 0, 41, count, first, last, operands, 0, 0);
}
static void polydl_gemm1_run(const double *a, const double *b, double *c, int last_m, int last_n, int last_k, long count, int first, int last, const struct polydl_gemm1_operands *operands)
{
  (void)last_k;
  if (!last_m && !last_n)
    polydl_gemm1_run_000(a, b, c, count, first, last, operands);
  if (!last_m && last_n)
    polydl_gemm1_run_010(a, b, c, count, first, last, operands);
  if (last_m && !last_n)
    polydl_gemm1_run_100(a, b, c, count, first, last, operands);
  if (last_m && last_n)
    polydl_gemm1_run_110(a, b, c, count, first, last, operands);
}

/* A product of sizes that no vector and no tile divides, summed in a local scalar. */
#define matmul_tails polydl_tuned_matmul_tails
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void matmul_tails(int n, double C[37][n], const double A[37][41], const double B[41][n], double factor)
{
  if (n == 50) {
    for (int j_t1 = 0; j_t1 <= 3; ++j_t1) {
      for (int i_t2 = 0; i_t2 <= 1; ++i_t2) {
        for (int i_t1 = 4 * i_t2; i_t1 <= polydl_min(6, ((4 * i_t2) + 3)); ++i_t1) {
          polydl_gemm1_run(&B[0][16 * j_t1], &A[6 * i_t1][0], &C[6 * i_t1][16 * j_t1], j_t1 == 3, i_t1 == 6, 0, 1, 1, 1, &(struct polydl_gemm1_operands){&C[6 * i_t1][16 * j_t1], &factor});
        }
      }
    }
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
