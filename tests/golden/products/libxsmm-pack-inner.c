#include <stddef.h>
#include <pthread.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
static inline int polydl_min(int a, int b) { return a < b ? a : b; }
/* transposing copies */
/* team */
static struct polydl_team polydl_team;
typedef void (*polydl_gemm2_function)(
    const float *a, const float *b, float *c, ...);
polydl_gemm2_function libxsmm_smmdispatch(int m, int n, int k, const int *lda, const int *ldb, const int *ldc,
    const float *alpha, const float *beta, const int *flags, const int *prefetch);
static polydl_gemm2_function polydl_gemm2_kernel[2][2][2][2];
static void polydl_gemm2_loops(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  const long m = last_m ? 8 : 8, n = last_n ? 10 : 10, k = last_k ? 32 : 32;
  if (first)
    for (long j = 0; j < n; ++j)
      for (long i = 0; i < m; ++i)
        c[i + j * 24] = 0;
  for (long r = 0; r < count; ++r)
    for (long j = 0; j < n; ++j)
      for (long l = 0; l < k; ++l) {
        const float *column = a + l * 24;
        const float factor = (b)[j * 32 + l * 1];
        for (long i = 0; i < m; ++i)
          c[i + j * 24] += column[i] * factor;
      }
}
static inline void polydl_gemm2_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  const polydl_gemm2_function kernel = polydl_gemm2_kernel[first][last_m][last_n][last_k];
  if (kernel)
    kernel(a, b, c);
  else
    polydl_gemm2_loops(a, b, c, last_m, last_n, last_k, count, first);
}
static pthread_once_t polydl_once = PTHREAD_ONCE_INIT;
static void polydl_setup(void)
{
  {
    const int lda = 24, ldb = 32, ldc = 24;
    const float alpha = 1, beta = 1;
    const int flags = 0;
    polydl_gemm2_kernel[0][0][0][0] =
        libxsmm_smmdispatch(8, 10, 32, &lda, &ldb, &ldc, &alpha, &beta, &flags, NULL);
  }
}

/* Two products, one after the other: the second reads what the first has made. */
#define products polydl_tuned_products
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void products(float out[40][24], float mid[40][32], const float a[40][50], const float b[32][50], const float c[24][32])
{
  {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    float c_packed[32][24] __attribute__((aligned(64)));
    pthread_once(&polydl_once, polydl_setup);
    #pragma omp parallel for
    for (int c_1 = 0; c_1 <= 31; c_1 += 16) {
      polydl_transpose(&c_packed[c_1][0], 24, &c[0][c_1], 32, 16, 24);
    }
    for (int j_t1 = 0; j_t1 <= 1; ++j_t1) {
      polydl_between();
      #pragma omp parallel for
      for (int i = 0; i <= 39; ++i) {
        for (int k_t1 = 0; k_t1 <= 6; ++k_t1) {
          for (int j = 16 * j_t1; j <= ((16 * j_t1) + 15); ++j) {
            if ((8 * k_t1) <= polydl_min(49, ((8 * k_t1) + 7))) {
              {
                float polydl_sum0 = 0;
                #pragma omp simd simdlen(8) reduction(+: polydl_sum0)
                for (int k = 8 * k_t1; k <= polydl_min(49, ((8 * k_t1) + 7)); ++k) {
                  polydl_sum0 += a[i][k] * b[j][k];
                }
                mid[i][j] += polydl_sum0;
              }
            }
          }
        }
      }
    }
    polydl_between();
    #pragma omp parallel for collapse(2)
    for (int j_t1 = 0; j_t1 <= 2; ++j_t1) {
      for (int i_t2 = 0; i_t2 <= 1; ++i_t2) {
        for (int i_t1 = 2 * i_t2; i_t1 <= ((2 * i_t2) + 1); ++i_t1) {
          polydl_gemm2_run(&c_packed[0][8 * j_t1], &mid[10 * i_t1][0], &out[10 * i_t1][8 * j_t1], 0, 0, 0, 1, 0);
        }
      }
    }
    polydl_end(&polydl_call);
  }
}
#undef products

/* for all processors */
void products(float out[40][24], float mid[40][32], const float a[40][50], const float b[32][50], const float c[24][32])
{
  if (polydl_fits()) {
    polydl_tuned_products(out, mid, a, b, c);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 32; j++)
      for (int k = 0; k < 50; k++)
        mid[i][j] += a[i][k] * b[j][k];
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 24; j++)
      for (int k = 0; k < 32; k++)
        out[i][j] += mid[i][k] * c[j][k];
#endif
}
void products_release(void);
void products_release(void)
{
}
const char *products_missing(void);
const char *products_missing(void)
{
  return polydl_missing();
}
/* for this one */
