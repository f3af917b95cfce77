#include <stddef.h>
#include <pthread.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
typedef void (*polydl_gemm1_function)(
    const double *a, const double *b, double *c, ...);
polydl_gemm1_function libxsmm_dmmdispatch(int m, int n, int k, const int *lda, const int *ldb, const int *ldc,
    const double *alpha, const double *beta, const int *flags, const int *prefetch);
static polydl_gemm1_function polydl_gemm1_kernel[2][2][2][2];
static void polydl_gemm1_loops(const double *a, const double *b, double *c, int last_m, int last_n, int last_k, long count, int first)
{
  const long m = last_m ? 50 : 50, n = last_n ? 37 : 37, k = last_k ? 41 : 41;
  if (first)
    for (long j = 0; j < n; ++j)
      for (long i = 0; i < m; ++i)
        c[i + j * 50] = 0;
  for (long r = 0; r < count; ++r)
    for (long j = 0; j < n; ++j)
      for (long l = 0; l < k; ++l) {
        const double *column = a + l * 50;
        const double factor = (b)[j * 41 + l * 1];
        for (long i = 0; i < m; ++i)
          c[i + j * 50] += column[i] * factor;
      }
}
static inline void polydl_gemm1_run(const double *a, const double *b, double *c, int last_m, int last_n, int last_k, long count, int first)
{
  const polydl_gemm1_function kernel = polydl_gemm1_kernel[first][last_m][last_n][last_k];
  if (kernel)
    kernel(a, b, c);
  else
    polydl_gemm1_loops(a, b, c, last_m, last_n, last_k, count, first);
}
static pthread_once_t polydl_once = PTHREAD_ONCE_INIT;
static void polydl_setup(void)
{
  {
    const int lda = 50, ldb = 41, ldc = 50;
    const double alpha = 1, beta = 1;
    const int flags = 0;
    polydl_gemm1_kernel[0][0][0][0] =
        libxsmm_dmmdispatch(50, 37, 41, &lda, &ldb, &ldc, &alpha, &beta, &flags, NULL);
  }
  {
    const int lda = 50, ldb = 41, ldc = 50;
    const double alpha = 1, beta = 0;
    const int flags = 0;
    polydl_gemm1_kernel[1][0][0][0] =
        libxsmm_dmmdispatch(50, 37, 41, &lda, &ldb, &ldc, &alpha, &beta, &flags, NULL);
  }
}

/* A product of sizes that no vector and no tile divides, summed in a local scalar. */
#define matmul_tails polydl_tuned_matmul_tails
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void matmul_tails(int n, double C[37][n], const double A[37][41], const double B[41][n], double factor)
{
  if (n == 50) {
    pthread_once(&polydl_once, polydl_setup);
    polydl_gemm1_run(&B[0][0], &A[0][0], &C[0][0], 0, 0, 0, 1, 1);
    for (int i = 0; i <= 36; ++i) {
      #pragma omp simd simdlen(8)
      for (int j = 0; j <= 49; ++j) {
        C[i][j] = factor * C[i][j];
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
