#include <stddef.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
static inline int polydl_min(int a, int b) { return a < b ? a : b; }
/* team */
static struct polydl_team polydl_team;
enum { polydl_arrays = 1, polydl_reserved = 1 };
static const size_t polydl_sizes[polydl_arrays] = {82944};
/* kept memory */
typedef void (*polydl_gemm1_function)(
    const float *a, const float *b, float *c, const unsigned long long *count, const unsigned long long *a_offsets, const unsigned long long *b_offsets, ...);
polydl_gemm1_function libxsmm_smmdispatch_reducebatch_offs(int m, int n, int k, const int *lda, const int *ldb, const int *ldc,
    const float *alpha, const float *beta, const int *flags, const int *prefetch);
static polydl_gemm1_function polydl_gemm1_kernel[2][2][2][2];
static const unsigned long long polydl_gemm1_bytes_a[48] = {0ull, 72ull, 144ull, 2592ull, 2664ull, 2736ull, 5184ull, 5256ull, 5328ull, 7776ull, 7848ull, 7920ull, 10368ull, 10440ull, 10512ull, 12960ull, 13032ull, 13104ull, 15552ull, 15624ull, 15696ull, 18144ull, 18216ull, 18288ull, 20736ull, 20808ull, 20880ull, 23328ull, 23400ull, 23472ull, 25920ull, 25992ull, 26064ull, 28512ull, 28584ull, 28656ull, 31104ull, 31176ull, 31248ull, 33696ull, 33768ull, 33840ull, 36288ull, 36360ull, 36432ull, 38880ull, 38952ull, 39024ull};
static const unsigned long long polydl_gemm1_bytes_b[48] = {0ull, 12ull, 24ull, 36ull, 48ull, 60ull, 72ull, 84ull, 96ull, 108ull, 120ull, 132ull, 144ull, 156ull, 168ull, 180ull, 192ull, 204ull, 216ull, 228ull, 240ull, 252ull, 264ull, 276ull, 288ull, 300ull, 312ull, 324ull, 336ull, 348ull, 360ull, 372ull, 384ull, 396ull, 408ull, 420ull, 432ull, 444ull, 456ull, 468ull, 480ull, 492ull, 504ull, 516ull, 528ull, 540ull, 552ull, 564ull};
static void polydl_gemm1_loops(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  const long m = last_m ? 52 : 64, n = last_n ? 8 : 8, k = last_k ? 3 : 3;
  if (first)
    for (long j = 0; j < n; ++j)
      for (long i = 0; i < m; ++i)
        c[i + j * 180] = 0;
  for (long r = 0; r < count; ++r)
    for (long j = 0; j < n; ++j)
      for (long l = 0; l < k; ++l) {
        const float *column = a + polydl_gemm1_bytes_a[r] / 4 + l * 216;
        const float factor = (b + polydl_gemm1_bytes_b[r] / 4)[j * 144 + l * 1];
        for (long i = 0; i < m; ++i)
          c[i + j * 180] += column[i] * factor;
      }
}
static inline void polydl_gemm1_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  const polydl_gemm1_function kernel = polydl_gemm1_kernel[first][last_m][last_n][last_k];
  const unsigned long long length = (unsigned long long)count;
  if (kernel)
    kernel(a, b, c, &length, polydl_gemm1_bytes_a, polydl_gemm1_bytes_b);
  else
    polydl_gemm1_loops(a, b, c, last_m, last_n, last_k, count, first);
}
static pthread_once_t polydl_once = PTHREAD_ONCE_INIT;
static void polydl_setup(void)
{
  {
    const int lda = 216, ldb = 144, ldc = 180;
    const float alpha = 1, beta = 1;
    const int flags = 0;
    polydl_gemm1_kernel[0][0][0][0] =
        libxsmm_smmdispatch_reducebatch_offs(64, 8, 3, &lda, &ldb, &ldc, &alpha, &beta, &flags, NULL);
  }
  {
    const int lda = 216, ldb = 144, ldc = 180;
    const float alpha = 1, beta = 1;
    const int flags = 0;
    polydl_gemm1_kernel[0][1][0][0] =
        libxsmm_smmdispatch_reducebatch_offs(52, 8, 3, &lda, &ldb, &ldc, &alpha, &beta, &flags, NULL);
  }
}

/* A convolution in plain layouts, NCHW and KCRS. */
#define conv_plain polydl_tuned_conv_plain
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void conv_plain(float out[2][32][10][18], const float flt[32][16][3][3], const float in[2][16][12][20])
{
  if (polydl_reserve()) {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    float (*in_unfolded)[16][3][216] = polydl_kept(0);
    float (*out_flat)[32][180] = (void *)out;
    pthread_once(&polydl_once, polydl_setup);
    #pragma omp parallel for
    for (int in_0 = 0; in_0 <= 1; ++in_0) {
      for (int in_1 = 0; in_1 <= 15; ++in_1) {
        for (int in_2 = 0; in_2 <= 2; ++in_2) {
          for (int in_3 = 0; in_3 <= 11; ++in_3) {
            #pragma omp simd simdlen(8)
            for (int in_4 = 0; in_4 <= 17; ++in_4) {
              in_unfolded[in_0][in_1][in_2][18 * in_3 + in_4] = in[in_0][in_1][in_3][in_2 + in_4];
            }
          }
        }
      }
    }
    for (int k_t1 = 0; k_t1 <= 3; ++k_t1) {
      polydl_between();
      #pragma omp parallel for
      for (int y_x_t2 = 0; y_x_t2 <= 1; ++y_x_t2) {
        for (int y_x_t1 = 2 * y_x_t2; y_x_t1 <= polydl_min(2, ((2 * y_x_t2) + 1)); ++y_x_t1) {
          for (int n = 0; n <= 1; ++n) {
            polydl_gemm1_run(&in_unfolded[n][0][0][64 * y_x_t1], &flt[8 * k_t1][0][0][0], &out_flat[n][8 * k_t1][64 * y_x_t1], y_x_t1 == 2, 0, 0, 48, 0);
          }
        }
      }
    }
    polydl_end(&polydl_call);
    polydl_leave();
  } else {
  for (int n = 0; n < 2; n++)
    for (int k = 0; k < 32; k++)
      for (int c = 0; c < 16; c++)
        for (int y = 0; y < 10; y++)
          for (int x = 0; x < 18; x++)
            for (int r = 0; r < 3; r++)
              for (int s = 0; s < 3; s++)
                out[n][k][y][x] += flt[k][c][r][s] * in[n][c][y + r][x + s];
  }
}
#undef conv_plain

/* for all processors */
void conv_plain(float out[2][32][10][18], const float flt[32][16][3][3], const float in[2][16][12][20])
{
  if (polydl_fits()) {
    polydl_tuned_conv_plain(out, flt, in);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int n = 0; n < 2; n++)
    for (int k = 0; k < 32; k++)
      for (int c = 0; c < 16; c++)
        for (int y = 0; y < 10; y++)
          for (int x = 0; x < 18; x++)
            for (int r = 0; r < 3; r++)
              for (int s = 0; s < 3; s++)
                out[n][k][y][x] += flt[k][c][r][s] * in[n][c][y + r][x + s];
#endif
}
void conv_plain_release(void);
void conv_plain_release(void)
{
  if (polydl_enter()) {
    polydl_drop();
    polydl_leave();
  }
}
const char *conv_plain_missing(void);
const char *conv_plain_missing(void)
{
  return polydl_missing();
}
/* for this one */
