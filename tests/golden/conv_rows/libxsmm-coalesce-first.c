#include <stddef.h>
#include <pthread.h>
#pragma GCC diagnostic ignored "-Wunused-variable"

/* processor */
/* team */
static struct polydl_team polydl_team;
typedef void (*polydl_gemm1_function)(
    const float *a, const float *b, float *c, ...);
polydl_gemm1_function libxsmm_smmdispatch(int m, int n, int k, const int *lda, const int *ldb, const int *ldc,
    const float *alpha, const float *beta, const int *flags, const int *prefetch);
static polydl_gemm1_function polydl_gemm1_kernel[2][2][2][2];
static void polydl_gemm1_loops(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  const long m = last_m ? 16 : 16, n = last_n ? 35 : 35, k = last_k ? 16 : 16;
  if (first)
    for (long j = 0; j < n; ++j)
      for (long i = 0; i < m; ++i)
        c[i + j * 16] = 0;
  for (long r = 0; r < count; ++r)
    for (long j = 0; j < n; ++j)
      for (long l = 0; l < k; ++l) {
        const float *column = a + l * 16;
        const float factor = (b)[j * 16 + l * 1];
        for (long i = 0; i < m; ++i)
          c[i + j * 16] += column[i] * factor;
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
    const int lda = 16, ldb = 16, ldc = 16;
    const float alpha = 1, beta = 1;
    const int flags = 0;
    polydl_gemm1_kernel[0][0][0][0] =
        libxsmm_smmdispatch(16, 35, 16, &lda, &ldb, &ldc, &alpha, &beta, &flags, NULL);
  }
  {
    const int lda = 16, ldb = 16, ldc = 16;
    const float alpha = 1, beta = 0;
    const int flags = 0;
    polydl_gemm1_kernel[1][0][0][0] =
        libxsmm_smmdispatch(16, 35, 16, &lda, &ldb, &ldc, &alpha, &beta, &flags, NULL);
  }
}

/* A 1x1 convolution whose rows and columns may be one loop: of odd numbers, for no two threads. */
#define conv_rows polydl_tuned_conv_rows
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void conv_rows(float output[3][5][7][16], const float filter[3][2][16][16], const float input[2][5][7][16])
{
  {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    float (*output_flat)[35][16] = (void *)output;
    float (*input_flat)[35][16] = (void *)input;
    pthread_once(&polydl_once, polydl_setup);
    #pragma omp parallel for
    for (int o = 0; o <= 2; ++o) {
      for (int t = 0; t <= 1; ++t) {
        polydl_gemm1_run(&filter[o][t][0][0], &input_flat[t][0][0], &output_flat[o][0][0], 0, 0, 0, 1, t == 0);
      }
    }
    polydl_end(&polydl_call);
  }
}
#undef conv_rows

/* for all processors */
void conv_rows(float output[3][5][7][16], const float filter[3][2][16][16], const float input[2][5][7][16])
{
  if (polydl_fits()) {
    polydl_tuned_conv_rows(output, filter, input);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int o = 0; o < 3; o++)
    for (int j = 0; j < 5; j++)
      for (int i = 0; i < 7; i++)
        for (int m = 0; m < 16; m++) {
          output[o][j][i][m] = 0;
          for (int t = 0; t < 2; t++)
            for (int k = 0; k < 16; k++)
              output[o][j][i][m] += filter[o][t][k][m] * input[t][j][i][k];
        }
#endif
}
void conv_rows_release(void);
void conv_rows_release(void)
{
}
const char *conv_rows_missing(void);
const char *conv_rows_missing(void)
{
  return polydl_missing();
}
/* for this one */
