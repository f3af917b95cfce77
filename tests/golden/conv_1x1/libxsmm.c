#include <stddef.h>
#include <pthread.h>
#pragma GCC diagnostic ignored "-Wunused-variable"

/* processor */
/* team */
static struct polydl_team polydl_team;
typedef void (*polydl_gemm0_function)(
    const float *a, const float *b, float *c, const unsigned long long *count, const unsigned long long *a_offsets, const unsigned long long *b_offsets, ...);
polydl_gemm0_function libxsmm_smmdispatch_reducebatch_offs(int m, int n, int k, const int *lda, const int *ldb, const int *ldc,
    const float *alpha, const float *beta, const int *flags, const int *prefetch);
static polydl_gemm0_function polydl_gemm0_kernel[2][2][2][2];
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
  const polydl_gemm0_function kernel = polydl_gemm0_kernel[first][last_m][last_n][last_k];
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
    const int lda = 64, ldb = 64, ldc = 64;
    const float alpha = 1, beta = 1;
    const int flags = 0;
    polydl_gemm0_kernel[0][0][0][0] =
        libxsmm_smmdispatch_reducebatch_offs(64, 48, 64, &lda, &ldb, &ldc, &alpha, &beta, &flags, NULL);
  }
}

/* A 1x1 convolution with filters that take turns in the first cache. */
#define conv_1x1 polydl_tuned_conv_1x1
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void conv_1x1(float output[8][48][64], const float filter[8][4][64][64], const float input[4][48][64])
{
  {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    pthread_once(&polydl_once, polydl_setup);
    #pragma omp parallel for
    for (int o = 0; o <= 7; ++o) {
      polydl_gemm0_run(&filter[o][0][0][0], &input[0][0][0], &output[o][0][0], 0, 0, 0, 4, 0);
    }
    polydl_end(&polydl_call);
  }
}
#undef conv_1x1

/* for all processors */
void conv_1x1(float output[8][48][64], const float filter[8][4][64][64], const float input[4][48][64])
{
  if (polydl_fits()) {
    polydl_tuned_conv_1x1(output, filter, input);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int o = 0; o < 8; o++)
    for (int i = 0; i < 4; i++)
      for (int p = 0; p < 48; p++)
        for (int ofm = 0; ofm < 64; ofm++)
          for (int ifm = 0; ifm < 64; ifm++)
            output[o][p][ofm] += filter[o][i][ifm][ofm] * input[i][p][ifm];
#endif
}
void conv_1x1_release(void);
void conv_1x1_release(void)
{
}
const char *conv_1x1_missing(void);
const char *conv_1x1_missing(void)
{
  return polydl_missing();
}
/* for this one */
