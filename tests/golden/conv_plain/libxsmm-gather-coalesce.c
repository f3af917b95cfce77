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
/* team */
static struct polydl_team polydl_team;
enum { polydl_arrays = 1, polydl_reserved = 1 };
static const size_t polydl_sizes[polydl_arrays] = {207360};
/* kept memory */
typedef void (*polydl_gemm1_function)(
    const float *a, const float *b, float *c, ...);
polydl_gemm1_function libxsmm_smmdispatch(int m, int n, int k, const int *lda, const int *ldb, const int *ldc,
    const float *alpha, const float *beta, const int *flags, const int *prefetch);
static polydl_gemm1_function polydl_gemm1_kernel[2][2][2][2];
static void polydl_gemm1_loops(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  const long m = last_m ? 36 : 48, n = last_n ? 32 : 32, k = last_k ? 144 : 144;
  if (first)
    for (long j = 0; j < n; ++j)
      for (long i = 0; i < m; ++i)
        c[i + j * 180] = 0;
  for (long r = 0; r < count; ++r)
    for (long j = 0; j < n; ++j)
      for (long l = 0; l < k; ++l) {
        const float *column = a + l * 180;
        const float factor = (b)[j * 144 + l * 1];
        for (long i = 0; i < m; ++i)
          c[i + j * 180] += column[i] * factor;
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
    const int lda = 180, ldb = 144, ldc = 180;
    const float alpha = 1, beta = 1;
    const int flags = 0;
    polydl_gemm1_kernel[0][0][0][0] =
        libxsmm_smmdispatch(48, 32, 144, &lda, &ldb, &ldc, &alpha, &beta, &flags, NULL);
  }
  {
    const int lda = 180, ldb = 144, ldc = 180;
    const float alpha = 1, beta = 1;
    const int flags = 0;
    polydl_gemm1_kernel[0][1][0][0] =
        libxsmm_smmdispatch(36, 32, 144, &lda, &ldb, &ldc, &alpha, &beta, &flags, NULL);
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
    float (*in_gathered)[144][180] = polydl_kept(0);
    float (*flt_flat)[16][9] = (void *)flt;
    float (*flt_flat_flat)[144] = (void *)flt;
    float (*out_flat)[32][180] = (void *)out;
    pthread_once(&polydl_once, polydl_setup);
    #pragma omp parallel for
    for (int in_0 = 0; in_0 <= 1; ++in_0) {
      for (int in_1 = 0; in_1 <= 15; ++in_1) {
        for (int in_2 = 0; in_2 <= 2; ++in_2) {
          for (int in_3 = 0; in_3 <= 2; ++in_3) {
            for (int in_4 = 0; in_4 <= 9; ++in_4) {
              #pragma omp simd simdlen(8)
              for (int in_5 = 0; in_5 <= 17; ++in_5) {
                in_gathered[in_0][9 * in_1 + 3 * in_2 + in_3][18 * in_4 + in_5] = in[in_0][in_1][in_2 + in_4][in_3 + in_5];
              }
            }
          }
        }
      }
    }
    polydl_between();
    #pragma omp parallel for
    for (int n = 0; n <= 1; ++n) {
      for (int y_x_t1 = 0; y_x_t1 <= 3; ++y_x_t1) {
        polydl_gemm1_run(&in_gathered[n][0][48 * y_x_t1], &flt_flat_flat[0][0], &out_flat[n][0][48 * y_x_t1], y_x_t1 == 3, 0, 0, 1, 0);
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
