#include <stddef.h>
#include <pthread.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
typedef void (*polydl_gemm1_function)(
    const float *a, const float *b, float *c, ...);
polydl_gemm1_function libxsmm_smmdispatch(int m, int n, int k, const int *lda, const int *ldb, const int *ldc,
    const float *alpha, const float *beta, const int *flags, const int *prefetch);
static polydl_gemm1_function polydl_gemm1_kernel[2][2][2][2];
static void polydl_gemm1_loops(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  const long m = last_m ? 96 : 96, n = last_n ? 64 : 64, k = last_k ? 128 : 128;
  if (first)
    for (long j = 0; j < n; ++j)
      for (long i = 0; i < m; ++i)
        c[i + j * 96] = 0;
  for (long r = 0; r < count; ++r)
    for (long j = 0; j < n; ++j)
      for (long l = 0; l < k; ++l) {
        const float *column = a + l * 96;
        const float factor = (b)[j * 128 + l * 1];
        for (long i = 0; i < m; ++i)
          c[i + j * 96] += column[i] * factor;
      }
}
static inline void polydl_gemm1_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
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
    const int lda = 96, ldb = 128, ldc = 96;
    const float alpha = 1, beta = 1;
    const int flags = 0;
    polydl_gemm1_kernel[0][0][0][0] =
        libxsmm_smmdispatch(96, 64, 128, &lda, &ldb, &ldc, &alpha, &beta, &flags, NULL);
  }
}

/* A product from zero with ReLU behind it. */
#define matmul_relu polydl_tuned_matmul_relu
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void matmul_relu(float C[64][96], const float A[64][128], const float B[128][96])
{
  {
    pthread_once(&polydl_once, polydl_setup);
    for (int i = 0; i <= 63; ++i) {
      #pragma omp simd simdlen(16)
      for (int j = 0; j <= 95; ++j) {
        C[i][j] = 0.0f;
      }
    }
    polydl_gemm1_run(&B[0][0], &A[0][0], &C[0][0], 0, 0, 0, 1, 0);
    for (int i = 0; i <= 63; ++i) {
      #pragma omp simd simdlen(8)
      for (int j = 0; j <= 95; ++j) {
        C[i][j] = (C[i][j] > 0.0f) ? C[i][j] : 0.0f;
      }
    }
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
