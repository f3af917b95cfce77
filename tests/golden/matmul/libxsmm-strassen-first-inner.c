#include <stddef.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#pragma GCC diagnostic ignored "-Wunused-variable"

/* processor */
/* team */
static struct polydl_team polydl_team;
enum { polydl_arrays = 3, polydl_reserved = 3 };
static const size_t polydl_sizes[polydl_arrays] = {462336, 232960, 231168};
/* kept memory */
typedef void (*polydl_gemm3_function)(
    const float *a, const float *b, float *c, const unsigned long long *count, const unsigned long long *a_offsets, const unsigned long long *b_offsets, ...);
polydl_gemm3_function libxsmm_smmdispatch_reducebatch_offs(int m, int n, int k, const int *lda, const int *ldb, const int *ldc,
    const float *alpha, const float *beta, const int *flags, const int *prefetch);
static polydl_gemm3_function polydl_gemm3_kernel[2][2][2][2];
static const unsigned long long polydl_gemm3_bytes_a[2] = {0ull, 116480ull};
static const unsigned long long polydl_gemm3_bytes_b[2] = {0ull, 231168ull};
static void polydl_gemm3_loops(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  const long m = last_m ? 16 : 16, n = last_n ? 64 : 64, k = last_k ? 64 : 64;
  if (first)
    for (long j = 0; j < n; ++j)
      for (long i = 0; i < m; ++i)
        c[i + j * 64] = 0;
  for (long r = 0; r < count; ++r)
    for (long j = 0; j < n; ++j)
      for (long l = 0; l < k; ++l) {
        const float *column = a + polydl_gemm3_bytes_a[r] / 4 + l * 64;
        const float factor = (b + polydl_gemm3_bytes_b[r] / 4)[j * 64 + l * 1];
        for (long i = 0; i < m; ++i)
          c[i + j * 64] += column[i] * factor;
      }
}
static inline void polydl_gemm3_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  const polydl_gemm3_function kernel = polydl_gemm3_kernel[first][last_m][last_n][last_k];
  const unsigned long long length = (unsigned long long)count;
  if (kernel)
    kernel(a, b, c, &length, polydl_gemm3_bytes_a, polydl_gemm3_bytes_b);
  else
    polydl_gemm3_loops(a, b, c, last_m, last_n, last_k, count, first);
}
typedef float polydl_rows_S0_vector_8
  __attribute__((vector_size(32), aligned(4), may_alias));
static inline __attribute__((always_inline)) void polydl_rows_S0_by_8(
    const float *from, float *to, long from0, long from1, long to0)
{
  const polydl_rows_S0_vector_8 x0_0 = *(const polydl_rows_S0_vector_8 *)(from + 0 * from0 + 0 * from1);
  const polydl_rows_S0_vector_8 x0_1 = *(const polydl_rows_S0_vector_8 *)(from + 0 * from0 + 1 * from1);
  const polydl_rows_S0_vector_8 x1_0 = *(const polydl_rows_S0_vector_8 *)(from + 1 * from0 + 0 * from1);
  const polydl_rows_S0_vector_8 x1_1 = *(const polydl_rows_S0_vector_8 *)(from + 1 * from0 + 1 * from1);
  const polydl_rows_S0_vector_8 y0 = x0_0 + x1_1;
  const polydl_rows_S0_vector_8 y1 = x1_0 + x1_1;
  const polydl_rows_S0_vector_8 y2 = x0_0;
  const polydl_rows_S0_vector_8 y3 = x1_1;
  const polydl_rows_S0_vector_8 y4 = x0_0 + x0_1;
  const polydl_rows_S0_vector_8 y5 = x1_0 - x0_0;
  const polydl_rows_S0_vector_8 y6 = x0_1 - x1_1;
  *(polydl_rows_S0_vector_8 *)(to + 0 * to0) = y0;
  *(polydl_rows_S0_vector_8 *)(to + 1 * to0) = y1;
  *(polydl_rows_S0_vector_8 *)(to + 2 * to0) = y2;
  *(polydl_rows_S0_vector_8 *)(to + 3 * to0) = y3;
  *(polydl_rows_S0_vector_8 *)(to + 4 * to0) = y4;
  *(polydl_rows_S0_vector_8 *)(to + 5 * to0) = y5;
  *(polydl_rows_S0_vector_8 *)(to + 6 * to0) = y6;
}
static void polydl_rows_S0(const float *restrict from, float *restrict to)
{
  for (int lane = 0; lane < 64; lane += 8) {
    polydl_rows_S0_by_8(from + lane, to + lane, 32768, 128, 8256);
  }
}
typedef float polydl_columns_S0_vector_8
  __attribute__((vector_size(32), aligned(4), may_alias));
static inline __attribute__((always_inline)) void polydl_columns_S0_by_8(
    const float *from, float *to, long from0, long from1, long to0)
{
  const polydl_columns_S0_vector_8 x0_0 = *(const polydl_columns_S0_vector_8 *)(from + 0 * from0 + 0 * from1);
  const polydl_columns_S0_vector_8 x0_1 = *(const polydl_columns_S0_vector_8 *)(from + 0 * from0 + 1 * from1);
  const polydl_columns_S0_vector_8 x1_0 = *(const polydl_columns_S0_vector_8 *)(from + 1 * from0 + 0 * from1);
  const polydl_columns_S0_vector_8 x1_1 = *(const polydl_columns_S0_vector_8 *)(from + 1 * from0 + 1 * from1);
  const polydl_columns_S0_vector_8 y0 = x0_0 + x1_1;
  const polydl_columns_S0_vector_8 y1 = x0_0;
  const polydl_columns_S0_vector_8 y2 = x0_1 - x1_1;
  const polydl_columns_S0_vector_8 y3 = x1_0 - x0_0;
  const polydl_columns_S0_vector_8 y4 = x1_1;
  const polydl_columns_S0_vector_8 y5 = x0_0 + x0_1;
  const polydl_columns_S0_vector_8 y6 = x1_0 + x1_1;
  *(polydl_columns_S0_vector_8 *)(to + 0 * to0) = y0;
  *(polydl_columns_S0_vector_8 *)(to + 1 * to0) = y1;
  *(polydl_columns_S0_vector_8 *)(to + 2 * to0) = y2;
  *(polydl_columns_S0_vector_8 *)(to + 3 * to0) = y3;
  *(polydl_columns_S0_vector_8 *)(to + 4 * to0) = y4;
  *(polydl_columns_S0_vector_8 *)(to + 5 * to0) = y5;
  *(polydl_columns_S0_vector_8 *)(to + 6 * to0) = y6;
}
static void polydl_columns_S0(const float *restrict from, float *restrict to)
{
  for (int lane = 0; lane < 64; lane += 8) {
    polydl_columns_S0_by_8(from + lane, to + lane, 32768, 64, 4160);
  }
}
typedef float polydl_result_S0_vector_8
  __attribute__((vector_size(32), aligned(4), may_alias));
static inline __attribute__((always_inline)) void polydl_result_S0_by_8(
    const float *from, float *to, long from0, long to0, long to1)
{
  const polydl_result_S0_vector_8 x0 = *(const polydl_result_S0_vector_8 *)(from + 0 * from0);
  const polydl_result_S0_vector_8 x1 = *(const polydl_result_S0_vector_8 *)(from + 1 * from0);
  const polydl_result_S0_vector_8 x2 = *(const polydl_result_S0_vector_8 *)(from + 2 * from0);
  const polydl_result_S0_vector_8 x3 = *(const polydl_result_S0_vector_8 *)(from + 3 * from0);
  const polydl_result_S0_vector_8 x4 = *(const polydl_result_S0_vector_8 *)(from + 4 * from0);
  const polydl_result_S0_vector_8 x5 = *(const polydl_result_S0_vector_8 *)(from + 5 * from0);
  const polydl_result_S0_vector_8 x6 = *(const polydl_result_S0_vector_8 *)(from + 6 * from0);
  const polydl_result_S0_vector_8 y0_0 = x0 + x3 + x6 - x4;
  const polydl_result_S0_vector_8 y0_1 = x2 + x4;
  const polydl_result_S0_vector_8 y1_0 = x1 + x3;
  const polydl_result_S0_vector_8 y1_1 = x0 + x2 + x5 - x1;
  *(polydl_result_S0_vector_8 *)(to + 0 * to0 + 0 * to1) += y0_0;
  *(polydl_result_S0_vector_8 *)(to + 0 * to0 + 1 * to1) += y0_1;
  *(polydl_result_S0_vector_8 *)(to + 1 * to0 + 0 * to1) += y1_0;
  *(polydl_result_S0_vector_8 *)(to + 1 * to0 + 1 * to1) += y1_1;
}
static void polydl_result_S0(const float *restrict from, float *restrict to)
{
  for (int lane = 0; lane < 64; lane += 8) {
    polydl_result_S0_by_8(from + lane, to + lane, 8256, 32768, 64);
  }
}
static pthread_once_t polydl_once = PTHREAD_ONCE_INIT;
static void polydl_setup(void)
{
  {
    const int lda = 64, ldb = 64, ldc = 64;
    const float alpha = 1, beta = 1;
    const int flags = 0;
    polydl_gemm3_kernel[0][0][0][0] =
        libxsmm_smmdispatch_reducebatch_offs(16, 64, 64, &lda, &ldb, &ldc, &alpha, &beta, &flags, NULL);
  }
  {
    const int lda = 64, ldb = 64, ldc = 64;
    const float alpha = 1, beta = 0;
    const int flags = 0;
    polydl_gemm3_kernel[1][0][0][0] =
        libxsmm_smmdispatch_reducebatch_offs(16, 64, 64, &lda, &ldb, &ldc, &alpha, &beta, &flags, NULL);
  }
}

/* C += A * B, large enough for quarters of quarters. */
#define matmul polydl_tuned_matmul
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void matmul(float C[256][256], const float A[256][256], const float B[256][256])
{
  if (polydl_reserve()) {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    float (*A_points)[7][129][64] = polydl_kept(0);
    float (*B_points)[7][65][64] = polydl_kept(1);
    float (*C_points)[129][64] = polydl_kept(2);
    pthread_once(&polydl_once, polydl_setup);
    #pragma omp parallel for
    for (int i = 0; i <= 127; ++i) {
      for (int k_block = 0; k_block <= 1; ++k_block) {
        polydl_rows_S0(&A[i][64 * k_block], &A_points[k_block][0][i][0]);
      }
    }
    for (int j_block_block = 0; j_block_block <= 1; ++j_block_block) {
      polydl_between();
      #pragma omp parallel for
      for (int polydl_c3 = 0; polydl_c3 <= 1; ++polydl_c3) {
        for (int polydl_c4 = 0; polydl_c4 <= 63; ++polydl_c4) {
          polydl_columns_S0(&B[64 * polydl_c3 + polydl_c4][128 * j_block_block], &B_points[polydl_c3][0][polydl_c4][0]);
        }
      }
      polydl_between();
      #pragma omp parallel for collapse(2)
      for (int polydl_c3 = 0; polydl_c3 <= 6; ++polydl_c3) {
        for (int polydl_c4 = 0; polydl_c4 <= 1; ++polydl_c4) {
          for (int j_t1 = 0; j_t1 <= 3; ++j_t1) {
            polydl_gemm3_run(&B_points[0][polydl_c3][0][16 * j_t1], &A_points[0][polydl_c3][64 * polydl_c4][0], &C_points[polydl_c3][64 * polydl_c4][16 * j_t1], 0, 0, 0, 2, 1);
          }
        }
      }
      polydl_between();
      #pragma omp parallel for
      for (int polydl_c3 = 0; polydl_c3 <= 127; ++polydl_c3) {
        polydl_result_S0(&C_points[0][polydl_c3][0], &C[polydl_c3][128 * j_block_block]);
      }
    }
    polydl_end(&polydl_call);
    polydl_leave();
  } else {
  for (int i = 0; i < 256; ++i)
    for (int j = 0; j < 256; ++j)
      for (int k = 0; k < 256; ++k)
        C[i][j] += A[i][k] * B[k][j];
  }
}
#undef matmul

/* for all processors */
void matmul(float C[256][256], const float A[256][256], const float B[256][256])
{
  if (polydl_fits()) {
    polydl_tuned_matmul(C, A, B);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 0; i < 256; ++i)
    for (int j = 0; j < 256; ++j)
      for (int k = 0; k < 256; ++k)
        C[i][j] += A[i][k] * B[k][j];
#endif
}
void matmul_release(void);
void matmul_release(void)
{
  if (polydl_enter()) {
    polydl_drop();
    polydl_leave();
  }
}
const char *matmul_missing(void);
const char *matmul_missing(void)
{
  return polydl_missing();
}
/* for this one */
