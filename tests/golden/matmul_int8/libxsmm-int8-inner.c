#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
/* team */
static struct polydl_team polydl_team;
#ifndef POLYDL_EXACT_BYTES
#define POLYDL_EXACT_BYTES
typedef void (*polydl_bytes)(const char *, const unsigned char *, int *, const unsigned long long *,
                             const unsigned long long *, const unsigned long long *);
/* Whether a kernel adds the product of the largest bytes k times. */
static int polydl_is_exact(polydl_bytes kernel, int m, int n, int k, int lda, int ldb, int ldc, int first)
{
  const unsigned long long one = 1, zero = 0;
  const size_t size_a = (size_t)lda * k, size_b = (size_t)ldb * n, size_c = (size_t)ldc * n;
  char *a = malloc(size_a + 64); /* whose last lines may be read whole */
  unsigned char *b = malloc(size_b + 64);
  int *c = malloc(size_c * sizeof *c), exact = a && b && c;
  if (exact) {
    memset(a, 127, size_a);
    memset(b, 255, size_b);
    for (size_t place = 0; place < size_c; ++place)
      c[place] = 7;
    kernel(a, b, c, &one, &zero, &zero);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i)
        exact &= c[i + j * (size_t)ldc] == (first ? 0 : 7) + 127 * 255 * k;
  }
  free(a);
  free(b);
  free(c);
  return exact;
}
#endif
typedef void (*polydl_gemm0_function)(
    const char *a, const unsigned char *b, int *c, ...);
polydl_gemm0_function libxsmm_subimmdispatch(int m, int n, int k, const int *lda, const int *ldb, const int *ldc,
    const int *alpha, const int *beta, const int *flags, const int *prefetch);
static polydl_gemm0_function polydl_gemm0_kernel[2][2][2][2];
static const long polydl_gemm0_offsets_a[32] = {0, 256, 512, 768, 1024, 1280, 1536, 1792, 2048, 2304, 2560, 2816, 3072, 3328, 3584, 3840, 4096, 4352, 4608, 4864, 5120, 5376, 5632, 5888, 6144, 6400, 6656, 6912, 7168, 7424, 7680, 7936};
static const long polydl_gemm0_offsets_b[32] = {0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72, 76, 80, 84, 88, 92, 96, 100, 104, 108, 112, 116, 120, 124};
static void polydl_gemm0_loops(const signed char *a, const unsigned char *b, int *c, int last_m, int last_n, int last_k, long count, int first)
{
  const long m = last_m ? 8 : 8, n = last_n ? 16 : 16, k = last_k ? 4 : 4;
  if (first)
    for (long j = 0; j < n; ++j)
      for (long i = 0; i < m; ++i)
        c[i + j * 128] = 0;
  for (long r = 0; r < count; ++r)
    for (long j = 0; j < n; ++j)
      for (long l = 0; l < k; ++l) {
        const signed char *column = a + polydl_gemm0_offsets_a[r] + l * 1;
        const int factor = b[polydl_gemm0_offsets_b[r] + j * 128 + l * 1];
        for (long i = 0; i < m; ++i)
          c[i + j * 128] += column[4 * i] * factor;
      }
}
static inline void polydl_gemm0_run(const signed char *a, const unsigned char *b, int *c, int last_m, int last_n, int last_k, long count, int first)
{
  const polydl_gemm0_function kernel = polydl_gemm0_kernel[first][last_m][last_n][last_k];
  if (kernel) {
    kernel((const char *)a, (const unsigned char *)b, c);
  } else
    polydl_gemm0_loops(a, b, c, last_m, last_n, last_k, count, first);
}
static pthread_once_t polydl_once = PTHREAD_ONCE_INIT;
static void polydl_setup(void)
{
  {
    const int lda = 64, ldb = 128, ldc = 128;
    const int alpha = 1, beta = 1;
    const int flags = 32768; /* A is in groups of k */
    polydl_gemm0_kernel[0][0][0][0] =
        libxsmm_subimmdispatch(8, 16, 128, &lda, &ldb, &ldc, &alpha, &beta, &flags, NULL);
    if (polydl_gemm0_kernel[0][0][0][0] && !polydl_is_exact((polydl_bytes)(void (*)(void))polydl_gemm0_kernel[0][0][0][0], 8, 16, 128, lda, ldb, ldc, 0))
      polydl_gemm0_kernel[0][0][0][0] = NULL;
  }
}

/* A product of bytes summed as int, in groups of four, with what turns the sums into floats. */
enum { M = 48, N = 128, K = 128 };
#define matmul_int8 polydl_tuned_matmul_int8
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void matmul_int8(int C[M][N / 64][64], float D[M][N / 64][64], const unsigned char A[M][K / 4][4],
                 const signed char B[N / 64][K / 4][64][4], const float scale[N / 64][64])
{
  {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    pthread_once(&polydl_once, polydl_setup);
    #pragma omp parallel for collapse(2)
    for (int i_t1 = 0; i_t1 <= 2; ++i_t1) {
      for (int jt = 0; jt <= 1; ++jt) {
        for (int j_t2 = 0; j_t2 <= 1; ++j_t2) {
          for (int j_t1 = 4 * j_t2; j_t1 <= ((4 * j_t2) + 3); ++j_t1) {
            polydl_gemm0_run(&B[jt][0][8 * (long)j_t1][0], &A[16 * (long)i_t1][0][0], &C[16 * (long)i_t1][jt][8 * (long)j_t1], 0, 0, 0, 32, 0);
          }
        }
      }
    }
    polydl_between();
    #pragma omp parallel for
    for (int i = 0; i <= 47; ++i) {
      for (int jt = 0; jt <= 1; ++jt) {
        #pragma omp simd simdlen(8)
        for (int j = 0; j <= 63; ++j) {
          D[i][jt][j] = scale[jt][j] * (float)(C[i][jt][j]);
        }
      }
    }
    polydl_end(&polydl_call);
  }
}
#undef matmul_int8

/* for all processors */
void matmul_int8(int C[M][N / 64][64], float D[M][N / 64][64], const unsigned char A[M][K / 4][4],
                 const signed char B[N / 64][K / 4][64][4], const float scale[N / 64][64])
{
  if (polydl_fits()) {
    polydl_tuned_matmul_int8(C, D, A, B, scale);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 0; i < M; ++i)
    for (int jt = 0; jt < N / 64; ++jt)
      for (int j = 0; j < 64; ++j)
        for (int k = 0; k < K / 4; ++k)
          for (int q = 0; q < 4; ++q)
            C[i][jt][j] += (int)A[i][k][q] * (int)B[jt][k][j][q];
  for (int i = 0; i < M; ++i)
    for (int jt = 0; jt < N / 64; ++jt)
      for (int j = 0; j < 64; ++j)
        D[i][jt][j] = scale[jt][j] * (float)C[i][jt][j];
#endif
}
void matmul_int8_release(void);
void matmul_int8_release(void)
{
}
const char *matmul_int8_missing(void);
const char *matmul_int8_missing(void)
{
  return polydl_missing();
}
/* for this one */
