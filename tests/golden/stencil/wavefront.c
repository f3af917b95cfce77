#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
static inline int polydl_min(int a, int b) { return a < b ? a : b; }
static inline int polydl_max(int a, int b) { return a > b ? a : b; }
/* team */
static struct polydl_team polydl_team;

/* A Jacobi stencil of five points, from A to B and back in each step in time. */
#define stencil polydl_tuned_stencil
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void stencil(float A[64][80], float B[64][80])
{
  {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    for (int wavefront = 0; wavefront <= 5; ++wavefront) {
      polydl_between();
      #pragma omp parallel for
      for (int i_tile = polydl_max(0, (wavefront - 1)); i_tile <= polydl_min(4, wavefront); ++i_tile) {
        for (int j_tile = 0; j_tile <= 2; ++j_tile) {
          for (int t = polydl_max(((8 * i_tile) - 31), ((2 * wavefront) - (2 * i_tile))); t <= (((2 * wavefront) - (2 * i_tile)) + 1); ++t) {
            for (int i = polydl_max((16 * i_tile), ((2 * t) + 1)); i <= polydl_min(((16 * i_tile) + 15), ((2 * t) + 62)); ++i) {
              #pragma omp simd simdlen(8)
              for (int j = polydl_max((32 * j_tile), ((2 * t) + 1)); j <= polydl_min(((32 * j_tile) + 31), ((2 * t) + 78)); ++j) {
                B[-2 * t + i][-2 * t + j] = 0.2f * ((((A[-2 * t + i][-2 * t + j] + A[-2 * t + i][-2 * t + j - 1]) + A[-2 * t + i][-2 * t + j + 1]) + A[-2 * t + i - 1][-2 * t + j]) + A[-2 * t + i + 1][-2 * t + j]);
              }
            }
            for (int i = polydl_max((16 * i_tile), ((2 * t) + 2)); i <= polydl_min(((16 * i_tile) + 15), ((2 * t) + 63)); ++i) {
              #pragma omp simd simdlen(8)
              for (int j = polydl_max((32 * j_tile), ((2 * t) + 2)); j <= polydl_min(((32 * j_tile) + 31), ((2 * t) + 79)); ++j) {
                A[-2 * t + i - 1][-2 * t + j - 1] = 0.2f * ((((B[-2 * t + i - 1][-2 * t + j - 1] + B[-2 * t + i - 1][-2 * t + j - 2]) + B[-2 * t + i - 1][-2 * t + j]) + B[-2 * t + i - 2][-2 * t + j - 1]) + B[-2 * t + i][-2 * t + j - 1]);
              }
            }
          }
        }
      }
    }
    polydl_end(&polydl_call);
  }
}
#undef stencil

/* for all processors */
void stencil(float A[64][80], float B[64][80])
{
  if (polydl_fits()) {
    polydl_tuned_stencil(A, B);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int t = 0; t < 4; ++t) {
    for (int i = 1; i < 63; ++i)
      for (int j = 1; j < 79; ++j)
        B[i][j] = 0.2f * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i - 1][j] + A[i + 1][j]);
    for (int i = 1; i < 63; ++i)
      for (int j = 1; j < 79; ++j)
        A[i][j] = 0.2f * (B[i][j] + B[i][j - 1] + B[i][j + 1] + B[i - 1][j] + B[i + 1][j]);
  }
#endif
}
void stencil_release(void);
void stencil_release(void)
{
}
const char *stencil_missing(void);
const char *stencil_missing(void)
{
  return polydl_missing();
}
/* for this one */
