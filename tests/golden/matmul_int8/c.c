#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
/* team */
static struct polydl_team polydl_team;

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
    #pragma omp parallel for
    for (int i = 0; i <= 47; ++i) {
      for (int jt = 0; jt <= 1; ++jt) {
        for (int j = 0; j <= 63; ++j) {
          for (int k = 0; k <= 31; ++k) {
            {
              int polydl_sum0 = 0;
              #pragma omp simd reduction(+: polydl_sum0)
              for (int q = 0; q <= 3; ++q) {
                polydl_sum0 += (int)(A[i][k][q]) * (int)(B[jt][k][j][q]);
              }
              C[i][jt][j] += polydl_sum0;
            }
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
