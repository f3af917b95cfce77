#include <libxsmm.h>
#include <pthread.h>
#pragma GCC diagnostic ignored "-Wunused-variable"

static libxsmm_smmfunction_reducebatch_offs polydl_gemm0_kernel[2][2][2][2];
static const unsigned long long polydl_gemm0_bytes_a[4] = {0ull, 16384ull, 32768ull, 49152ull};
static const unsigned long long polydl_gemm0_bytes_b[4] = {0ull, 12288ull, 24576ull, 36864ull};
static void polydl_gemm0_loops(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  const long m = last_m ? 64 : 64, n = last_n ? 48 : 48, k = last_k ? 64 : 64;
  if (first)
    for (long j = 0; j < n; ++j)
      for (long i = 0; i < m; ++i)
        c[i + j * 64] = 0;
  for (long r = 0; r < count; ++r)
    for (long j = 0; j < n; ++j)
      for (long l = 0; l < k; ++l) {
        const float *column = a + polydl_gemm0_bytes_a[r] / 4 + l * 64;
        const float factor = (b + polydl_gemm0_bytes_b[r] / 4)[j * 64 + l * 1];
        for (long i = 0; i < m; ++i)
          c[i + j * 64] += column[i] * factor;
      }
}
static inline void polydl_gemm0_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  const libxsmm_smmfunction_reducebatch_offs kernel = polydl_gemm0_kernel[first][last_m][last_n][last_k];
  const unsigned long long length = (unsigned long long)count;
  if (kernel)
    kernel(a, b, c, &length, polydl_gemm0_bytes_a, polydl_gemm0_bytes_b);
  else
    polydl_gemm0_loops(a, b, c, last_m, last_n, last_k, count, first);
}
static pthread_once_t polydl_once = PTHREAD_ONCE_INIT;
static void polydl_setup(void)
{
  {
    const libxsmm_blasint lda = 64, ldb = 64, ldc = 64;
    const float alpha = 1, beta = 1;
    const int flags = LIBXSMM_GEMM_FLAG_NONE;
    polydl_gemm0_kernel[0][0][0][0] =
        libxsmm_smmdispatch_reducebatch_offs(64, 48, 64, &lda, &ldb, &ldc, &alpha, &beta, &flags, NULL);
  }
}

/* A 1x1 convolution with filters that take turns in the first cache. */
void conv_1x1(float output[8][48][64], const float filter[8][4][64][64], const float input[4][48][64])
{
  {
    pthread_once(&polydl_once, polydl_setup);
    #pragma omp parallel for
    for (int o = 0; o <= 7; ++o) {
      polydl_gemm0_run(&filter[o][0][0][0], &input[0][0][0], &output[o][0][0], 0, 0, 0, 4, 0);
    }
  }
}
