#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */

/* A depthwise convolution of 3 x 3, channels first: each channel's filter is the same for a whole image. */
#define taps polydl_tuned_taps
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void taps(float output[5][9][40], const float filter[5][3][3], const float input[5][11][42])
{
  {
    for (int c = 0; c <= 4; ++c) {
      for (int oj_t1 = 0; oj_t1 <= 2; ++oj_t1) {
        {
          const float polydl_once0_0_0_0 = filter[c][0][0];
          const float polydl_once0_0_1_0 = filter[c][1][0];
          const float polydl_once0_0_2_0 = filter[c][2][0];
          const float polydl_once0_1_0_0 = filter[c][0][1];
          const float polydl_once0_1_1_0 = filter[c][1][1];
          const float polydl_once0_1_2_0 = filter[c][2][1];
          const float polydl_once0_2_0_0 = filter[c][0][2];
          const float polydl_once0_2_1_0 = filter[c][1][2];
          const float polydl_once0_2_2_0 = filter[c][2][2];
          for (int polydl_oi_strip = 0; polydl_oi_strip <= 39; polydl_oi_strip += 8) {
            #pragma omp simd simdlen(8)
            for (int oi = polydl_oi_strip; oi <= polydl_oi_strip + 7; ++oi) {
              float polydl_scalar0_0 = output[c][3 * oj_t1][oi];
              float polydl_scalar0_1 = output[c][3 * oj_t1 + 1][oi];
              float polydl_scalar0_2 = output[c][3 * oj_t1 + 2][oi];
              polydl_scalar0_0 += polydl_once0_0_0_0 * input[c][3 * oj_t1][oi];
              polydl_scalar0_1 += polydl_once0_0_0_0 * input[c][3 * oj_t1 + 1][oi];
              polydl_scalar0_2 += polydl_once0_0_0_0 * input[c][3 * oj_t1 + 2][oi];
              polydl_scalar0_0 += polydl_once0_0_1_0 * input[c][3 * oj_t1 + 1][oi];
              polydl_scalar0_1 += polydl_once0_0_1_0 * input[c][3 * oj_t1 + 2][oi];
              polydl_scalar0_2 += polydl_once0_0_1_0 * input[c][3 * oj_t1 + 3][oi];
              polydl_scalar0_0 += polydl_once0_0_2_0 * input[c][3 * oj_t1 + 2][oi];
              polydl_scalar0_1 += polydl_once0_0_2_0 * input[c][3 * oj_t1 + 3][oi];
              polydl_scalar0_2 += polydl_once0_0_2_0 * input[c][3 * oj_t1 + 4][oi];
              polydl_scalar0_0 += polydl_once0_1_0_0 * input[c][3 * oj_t1][oi + 1];
              polydl_scalar0_1 += polydl_once0_1_0_0 * input[c][3 * oj_t1 + 1][oi + 1];
              polydl_scalar0_2 += polydl_once0_1_0_0 * input[c][3 * oj_t1 + 2][oi + 1];
              polydl_scalar0_0 += polydl_once0_1_1_0 * input[c][3 * oj_t1 + 1][oi + 1];
              polydl_scalar0_1 += polydl_once0_1_1_0 * input[c][3 * oj_t1 + 2][oi + 1];
              polydl_scalar0_2 += polydl_once0_1_1_0 * input[c][3 * oj_t1 + 3][oi + 1];
              polydl_scalar0_0 += polydl_once0_1_2_0 * input[c][3 * oj_t1 + 2][oi + 1];
              polydl_scalar0_1 += polydl_once0_1_2_0 * input[c][3 * oj_t1 + 3][oi + 1];
              polydl_scalar0_2 += polydl_once0_1_2_0 * input[c][3 * oj_t1 + 4][oi + 1];
              polydl_scalar0_0 += polydl_once0_2_0_0 * input[c][3 * oj_t1][oi + 2];
              polydl_scalar0_1 += polydl_once0_2_0_0 * input[c][3 * oj_t1 + 1][oi + 2];
              polydl_scalar0_2 += polydl_once0_2_0_0 * input[c][3 * oj_t1 + 2][oi + 2];
              polydl_scalar0_0 += polydl_once0_2_1_0 * input[c][3 * oj_t1 + 1][oi + 2];
              polydl_scalar0_1 += polydl_once0_2_1_0 * input[c][3 * oj_t1 + 2][oi + 2];
              polydl_scalar0_2 += polydl_once0_2_1_0 * input[c][3 * oj_t1 + 3][oi + 2];
              polydl_scalar0_0 += polydl_once0_2_2_0 * input[c][3 * oj_t1 + 2][oi + 2];
              polydl_scalar0_1 += polydl_once0_2_2_0 * input[c][3 * oj_t1 + 3][oi + 2];
              polydl_scalar0_2 += polydl_once0_2_2_0 * input[c][3 * oj_t1 + 4][oi + 2];
              output[c][3 * oj_t1][oi] = polydl_scalar0_0;
              output[c][3 * oj_t1 + 1][oi] = polydl_scalar0_1;
              output[c][3 * oj_t1 + 2][oi] = polydl_scalar0_2;
            }
          }
        }
      }
    }
  }
}
#undef taps

/* for all processors */
void taps(float output[5][9][40], const float filter[5][3][3], const float input[5][11][42])
{
  if (polydl_fits()) {
    polydl_tuned_taps(output, filter, input);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int c = 0; c < 5; ++c)
    for (int oj = 0; oj < 9; ++oj)
      for (int oi = 0; oi < 40; ++oi)
        for (int kj = 0; kj < 3; ++kj)
          for (int ki = 0; ki < 3; ++ki)
            output[c][oj][oi] += filter[c][kj][ki] * input[c][oj + kj][oi + ki];
#endif
}
void taps_release(void);
void taps_release(void)
{
}
const char *taps_missing(void);
const char *taps_missing(void)
{
  return polydl_missing();
}
/* for this one */
