#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
static inline int polydl_min(int a, int b) { return a < b ? a : b; }
struct polydl_gemm1_operands { double *x0; const float *x1; };
static inline __attribute__((always_inline)) void polydl_gemm1_finished(const float *sums, double *x0, const float *x1, long rows)
{
  #pragma omp simd simdlen(4)
  for (long i = 0; i < rows; ++i) {
    float polydl_element = sums[i];
    x0[i] = (polydl_element > 0.0f) ? polydl_element : (0.5f * polydl_element);
  }
}
static inline __attribute__((always_inline)) void polydl_gemm1_after_column(const struct polydl_gemm1_operands *operands, const float *sums, long first, long row, long rows)
{
  const long j = first;
  double *x0 = operands->x0 + 224 * j + row;
  const float *x1 = operands->x1 + 32 * j + row;
  polydl_gemm1_finished(sums, x0, x1, rows);
}
static inline void polydl_gemm1_after(const struct polydl_gemm1_operands *operands, const float *sums, long apart, long first, long columns, long row, long rows)
{
  while (columns > 0) {
    const long j = first;
    const long length = columns;
    double *x0 = operands->x0 + 224 * j + row;
    const float *x1 = operands->x1 + 32 * j + row;
    for (long column = 0; column < length; ++column, sums += apart, x0 += 224, x1 += 32)
      polydl_gemm1_finished(sums, x0, x1, rows);
    first += length;
    columns -= length;
  }
}
static const long polydl_gemm1_offsets_a[1] = {0};
static const long polydl_gemm1_offsets_b[1] = {0};
typedef float polydl_gemm1_vector8 __attribute__((vector_size(32), aligned(sizeof(float)), may_alias));
static const long polydl_gemm1_starts0[4] = {0, 384, 768, 1152};
static const long polydl_gemm1_starts1[4] = {0, 192, 384, 576};
static const long polydl_gemm1_starts2[4] = {0, 6, 12, 18};
static const long polydl_gemm1_starts3[2] = {0, 256};
static const long polydl_gemm1_starts4[2] = {0, 128};
static const long polydl_gemm1_starts5[2] = {0, 4};
static inline void polydl_gemm1_block0_2x6(const float *a, const float *b, float *c, long k, long count, int last, const struct polydl_gemm1_operands *operands, long column, long row)
{
  polydl_gemm1_vector8 c0_0 = *(const polydl_gemm1_vector8 *)(c + 0);
  polydl_gemm1_vector8 c1_0 = *(const polydl_gemm1_vector8 *)(c + 8);
  polydl_gemm1_vector8 c0_1 = *(const polydl_gemm1_vector8 *)(c + 32);
  polydl_gemm1_vector8 c1_1 = *(const polydl_gemm1_vector8 *)(c + 40);
  polydl_gemm1_vector8 c0_2 = *(const polydl_gemm1_vector8 *)(c + 64);
  polydl_gemm1_vector8 c1_2 = *(const polydl_gemm1_vector8 *)(c + 72);
  polydl_gemm1_vector8 c0_3 = *(const polydl_gemm1_vector8 *)(c + 96);
  polydl_gemm1_vector8 c1_3 = *(const polydl_gemm1_vector8 *)(c + 104);
  polydl_gemm1_vector8 c0_4 = *(const polydl_gemm1_vector8 *)(c + 128);
  polydl_gemm1_vector8 c1_4 = *(const polydl_gemm1_vector8 *)(c + 136);
  polydl_gemm1_vector8 c0_5 = *(const polydl_gemm1_vector8 *)(c + 160);
  polydl_gemm1_vector8 c1_5 = *(const polydl_gemm1_vector8 *)(c + 168);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm1_offsets_a[r];
    const float *br = b + polydl_gemm1_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 224 + 0);
      const polydl_gemm1_vector8 a0 = *(const polydl_gemm1_vector8 *)(ar + l * 224 + 0);
      const polydl_gemm1_vector8 a1 = *(const polydl_gemm1_vector8 *)(ar + l * 224 + 8);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0;
      const float b1 = bl[64]; c0_1 += a0 * b1; c1_1 += a1 * b1;
      const float b2 = bl[128]; c0_2 += a0 * b2; c1_2 += a1 * b2;
      const float b3 = bl[192]; c0_3 += a0 * b3; c1_3 += a1 * b3;
      const float b4 = bl[256]; c0_4 += a0 * b4; c1_4 += a1 * b4;
      const float b5 = bl[320]; c0_5 += a0 * b5; c1_5 += a1 * b5;
    }
  }
  if (last) {
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c0_0;
      polydl_gemm1_after_column(operands, sums, column + 0, row + 0, 8); }
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c1_0;
      polydl_gemm1_after_column(operands, sums, column + 0, row + 8, 8); }
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c0_1;
      polydl_gemm1_after_column(operands, sums, column + 1, row + 0, 8); }
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c1_1;
      polydl_gemm1_after_column(operands, sums, column + 1, row + 8, 8); }
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c0_2;
      polydl_gemm1_after_column(operands, sums, column + 2, row + 0, 8); }
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c1_2;
      polydl_gemm1_after_column(operands, sums, column + 2, row + 8, 8); }
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c0_3;
      polydl_gemm1_after_column(operands, sums, column + 3, row + 0, 8); }
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c1_3;
      polydl_gemm1_after_column(operands, sums, column + 3, row + 8, 8); }
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c0_4;
      polydl_gemm1_after_column(operands, sums, column + 4, row + 0, 8); }
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c1_4;
      polydl_gemm1_after_column(operands, sums, column + 4, row + 8, 8); }
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c0_5;
      polydl_gemm1_after_column(operands, sums, column + 5, row + 0, 8); }
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c1_5;
      polydl_gemm1_after_column(operands, sums, column + 5, row + 8, 8); }
    return;
  }
  *(polydl_gemm1_vector8 *)(c + 0) = c0_0;
  *(polydl_gemm1_vector8 *)(c + 8) = c1_0;
  *(polydl_gemm1_vector8 *)(c + 32) = c0_1;
  *(polydl_gemm1_vector8 *)(c + 40) = c1_1;
  *(polydl_gemm1_vector8 *)(c + 64) = c0_2;
  *(polydl_gemm1_vector8 *)(c + 72) = c1_2;
  *(polydl_gemm1_vector8 *)(c + 96) = c0_3;
  *(polydl_gemm1_vector8 *)(c + 104) = c1_3;
  *(polydl_gemm1_vector8 *)(c + 128) = c0_4;
  *(polydl_gemm1_vector8 *)(c + 136) = c1_4;
  *(polydl_gemm1_vector8 *)(c + 160) = c0_5;
  *(polydl_gemm1_vector8 *)(c + 168) = c1_5;
}
static inline void polydl_gemm1_block1_2x4(const float *a, const float *b, float *c, long k, long count, int last, const struct polydl_gemm1_operands *operands, long column, long row)
{
  polydl_gemm1_vector8 c0_0 = *(const polydl_gemm1_vector8 *)(c + 0);
  polydl_gemm1_vector8 c1_0 = *(const polydl_gemm1_vector8 *)(c + 8);
  polydl_gemm1_vector8 c0_1 = *(const polydl_gemm1_vector8 *)(c + 32);
  polydl_gemm1_vector8 c1_1 = *(const polydl_gemm1_vector8 *)(c + 40);
  polydl_gemm1_vector8 c0_2 = *(const polydl_gemm1_vector8 *)(c + 64);
  polydl_gemm1_vector8 c1_2 = *(const polydl_gemm1_vector8 *)(c + 72);
  polydl_gemm1_vector8 c0_3 = *(const polydl_gemm1_vector8 *)(c + 96);
  polydl_gemm1_vector8 c1_3 = *(const polydl_gemm1_vector8 *)(c + 104);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm1_offsets_a[r];
    const float *br = b + polydl_gemm1_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 224 + 0);
      const polydl_gemm1_vector8 a0 = *(const polydl_gemm1_vector8 *)(ar + l * 224 + 0);
      const polydl_gemm1_vector8 a1 = *(const polydl_gemm1_vector8 *)(ar + l * 224 + 8);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0;
      const float b1 = bl[64]; c0_1 += a0 * b1; c1_1 += a1 * b1;
      const float b2 = bl[128]; c0_2 += a0 * b2; c1_2 += a1 * b2;
      const float b3 = bl[192]; c0_3 += a0 * b3; c1_3 += a1 * b3;
    }
  }
  if (last) {
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c0_0;
      polydl_gemm1_after_column(operands, sums, column + 0, row + 0, 8); }
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c1_0;
      polydl_gemm1_after_column(operands, sums, column + 0, row + 8, 8); }
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c0_1;
      polydl_gemm1_after_column(operands, sums, column + 1, row + 0, 8); }
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c1_1;
      polydl_gemm1_after_column(operands, sums, column + 1, row + 8, 8); }
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c0_2;
      polydl_gemm1_after_column(operands, sums, column + 2, row + 0, 8); }
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c1_2;
      polydl_gemm1_after_column(operands, sums, column + 2, row + 8, 8); }
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c0_3;
      polydl_gemm1_after_column(operands, sums, column + 3, row + 0, 8); }
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c1_3;
      polydl_gemm1_after_column(operands, sums, column + 3, row + 8, 8); }
    return;
  }
  *(polydl_gemm1_vector8 *)(c + 0) = c0_0;
  *(polydl_gemm1_vector8 *)(c + 8) = c1_0;
  *(polydl_gemm1_vector8 *)(c + 32) = c0_1;
  *(polydl_gemm1_vector8 *)(c + 40) = c1_1;
  *(polydl_gemm1_vector8 *)(c + 64) = c0_2;
  *(polydl_gemm1_vector8 *)(c + 72) = c1_2;
  *(polydl_gemm1_vector8 *)(c + 96) = c0_3;
  *(polydl_gemm1_vector8 *)(c + 104) = c1_3;
}
static void polydl_gemm1_run_000(const float *a, const float *b, float *c, long count, int last, const struct polydl_gemm1_operands *operands)
{
  for (int i = 0; i < 4; ++i) {
    polydl_gemm1_block0_2x6(a + 0, b + polydl_gemm1_starts0[i], c + 0 + polydl_gemm1_starts1[i], 64, count, last, operands, polydl_gemm1_starts2[i], 0);
    polydl_gemm1_block0_2x6(a + 16, b + polydl_gemm1_starts0[i], c + 16 + polydl_gemm1_starts1[i], 64, count, last, operands, polydl_gemm1_starts2[i], 16);
  }
}
static void polydl_gemm1_run_010(const float *a, const float *b, float *c, long count, int last, const struct polydl_gemm1_operands *operands)
{
  for (int i = 0; i < 2; ++i) {
    polydl_gemm1_block1_2x4(a + 0, b + polydl_gemm1_starts3[i], c + 0 + polydl_gemm1_starts4[i], 64, count, last, operands, polydl_gemm1_starts5[i], 0);
    polydl_gemm1_block1_2x4(a + 16, b + polydl_gemm1_starts3[i], c + 16 + polydl_gemm1_starts4[i], 64, count, last, operands, polydl_gemm1_starts5[i], 16);
  }
}
static void polydl_gemm1_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first, int last, const struct polydl_gemm1_operands *operands)
{
  (void)last_m;
  (void)last_k;
  (void)first;
  if (!last_n)
    polydl_gemm1_run_000(a, b, c, count, last, operands);
  if (last_n)
    polydl_gemm1_run_010(a, b, c, count, last, operands);
}

/* A linear layer with sums in a local scalar, and an output that can't hold them: a tile of sums is all that is kept. */
#define M 80
#define N 224
#define K 64
#define contraction polydl_tuned_contraction
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void contraction(double Y[M][N], const float A[M][K], const float B[K][N], const float bias[N])
{
  {
    float sum_of[24][32] __attribute__((aligned(64)));
    for (int i_t1 = 0; i_t1 <= 3; ++i_t1) {
      for (int j_t1 = 0; j_t1 <= 6; ++j_t1) {
        for (int i = 24 * i_t1; i <= polydl_min(79, ((24 * i_t1) + 23)); ++i) {
          #pragma omp simd simdlen(8)
          for (int j = 32 * j_t1; j <= ((32 * j_t1) + 31); ++j) {
            sum_of[i - 24 * i_t1][j - 32 * j_t1] = bias[j];
          }
        }
        polydl_gemm1_run(&B[0][32 * j_t1], &A[24 * i_t1][0], &sum_of[0][0], 0, i_t1 == 3, 0, 1, 0, 1, &(struct polydl_gemm1_operands){&Y[24 * i_t1][32 * j_t1], &sum_of[0][0]});
      }
    }
  }
}
#undef contraction

/* for all processors */
void contraction(double Y[M][N], const float A[M][K], const float B[K][N], const float bias[N])
{
  if (polydl_fits()) {
    polydl_tuned_contraction(Y, A, B, bias);
    return;
  }
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      float sum = bias[j];
      for (int k = 0; k < K; ++k)
        sum += A[i][k] * B[k][j];
      Y[i][j] = sum > 0.0f ? sum : 0.5f * sum;
    }
}
void contraction_release(void);
void contraction_release(void)
{
}
const char *contraction_missing(void);
const char *contraction_missing(void)
{
  return polydl_missing();
}
/* for this one */
