#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
static inline int polydl_min(int a, int b) { return a < b ? a : b; }

/* A depthwise convolution of 3 x 3 with a bias and a rectifier, channels last. */
#define depthwise polydl_tuned_depthwise
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void depthwise(float output[6][10][24], const float filter[3][3][24], const float bias[24],
               const float input[8][12][24])
{
  {
    for (int oj = 0; oj <= 5; ++oj) {
      for (int oi_t1 = 0; oi_t1 <= 2; ++oi_t1) {
        if (polydl_min(9, ((4 * oi_t1) + 3)) - (4 * oi_t1) == 3) {
          #pragma omp simd simdlen(16)
          for (int c = 0; c <= 23; ++c) {
            float polydl_scalar0_0;
            float polydl_scalar0_1;
            float polydl_scalar0_2;
            float polydl_scalar0_3;
            polydl_scalar0_0 = bias[c];
            polydl_scalar0_1 = bias[c];
            polydl_scalar0_2 = bias[c];
            polydl_scalar0_3 = bias[c];
            polydl_scalar0_0 += filter[0][0][c] * input[oj][4 * oi_t1][c];
            polydl_scalar0_1 += filter[0][0][c] * input[oj][4 * oi_t1 + 1][c];
            polydl_scalar0_2 += filter[0][0][c] * input[oj][4 * oi_t1 + 2][c];
            polydl_scalar0_3 += filter[0][0][c] * input[oj][4 * oi_t1 + 3][c];
            polydl_scalar0_0 += filter[0][1][c] * input[oj][4 * oi_t1 + 1][c];
            polydl_scalar0_1 += filter[0][1][c] * input[oj][4 * oi_t1 + 2][c];
            polydl_scalar0_2 += filter[0][1][c] * input[oj][4 * oi_t1 + 3][c];
            polydl_scalar0_3 += filter[0][1][c] * input[oj][4 * oi_t1 + 4][c];
            polydl_scalar0_0 += filter[0][2][c] * input[oj][4 * oi_t1 + 2][c];
            polydl_scalar0_1 += filter[0][2][c] * input[oj][4 * oi_t1 + 3][c];
            polydl_scalar0_2 += filter[0][2][c] * input[oj][4 * oi_t1 + 4][c];
            polydl_scalar0_3 += filter[0][2][c] * input[oj][4 * oi_t1 + 5][c];
            polydl_scalar0_0 += filter[1][0][c] * input[oj + 1][4 * oi_t1][c];
            polydl_scalar0_1 += filter[1][0][c] * input[oj + 1][4 * oi_t1 + 1][c];
            polydl_scalar0_2 += filter[1][0][c] * input[oj + 1][4 * oi_t1 + 2][c];
            polydl_scalar0_3 += filter[1][0][c] * input[oj + 1][4 * oi_t1 + 3][c];
            polydl_scalar0_0 += filter[1][1][c] * input[oj + 1][4 * oi_t1 + 1][c];
            polydl_scalar0_1 += filter[1][1][c] * input[oj + 1][4 * oi_t1 + 2][c];
            polydl_scalar0_2 += filter[1][1][c] * input[oj + 1][4 * oi_t1 + 3][c];
            polydl_scalar0_3 += filter[1][1][c] * input[oj + 1][4 * oi_t1 + 4][c];
            polydl_scalar0_0 += filter[1][2][c] * input[oj + 1][4 * oi_t1 + 2][c];
            polydl_scalar0_1 += filter[1][2][c] * input[oj + 1][4 * oi_t1 + 3][c];
            polydl_scalar0_2 += filter[1][2][c] * input[oj + 1][4 * oi_t1 + 4][c];
            polydl_scalar0_3 += filter[1][2][c] * input[oj + 1][4 * oi_t1 + 5][c];
            polydl_scalar0_0 += filter[2][0][c] * input[oj + 2][4 * oi_t1][c];
            polydl_scalar0_1 += filter[2][0][c] * input[oj + 2][4 * oi_t1 + 1][c];
            polydl_scalar0_2 += filter[2][0][c] * input[oj + 2][4 * oi_t1 + 2][c];
            polydl_scalar0_3 += filter[2][0][c] * input[oj + 2][4 * oi_t1 + 3][c];
            polydl_scalar0_0 += filter[2][1][c] * input[oj + 2][4 * oi_t1 + 1][c];
            polydl_scalar0_1 += filter[2][1][c] * input[oj + 2][4 * oi_t1 + 2][c];
            polydl_scalar0_2 += filter[2][1][c] * input[oj + 2][4 * oi_t1 + 3][c];
            polydl_scalar0_3 += filter[2][1][c] * input[oj + 2][4 * oi_t1 + 4][c];
            polydl_scalar0_0 += filter[2][2][c] * input[oj + 2][4 * oi_t1 + 2][c];
            polydl_scalar0_1 += filter[2][2][c] * input[oj + 2][4 * oi_t1 + 3][c];
            polydl_scalar0_2 += filter[2][2][c] * input[oj + 2][4 * oi_t1 + 4][c];
            polydl_scalar0_3 += filter[2][2][c] * input[oj + 2][4 * oi_t1 + 5][c];
            polydl_scalar0_0 = (polydl_scalar0_0 < 0.0f) ? 0.0f : polydl_scalar0_0;
            polydl_scalar0_1 = (polydl_scalar0_1 < 0.0f) ? 0.0f : polydl_scalar0_1;
            polydl_scalar0_2 = (polydl_scalar0_2 < 0.0f) ? 0.0f : polydl_scalar0_2;
            polydl_scalar0_3 = (polydl_scalar0_3 < 0.0f) ? 0.0f : polydl_scalar0_3;
            output[oj][4 * oi_t1][c] = polydl_scalar0_0;
            output[oj][4 * oi_t1 + 1][c] = polydl_scalar0_1;
            output[oj][4 * oi_t1 + 2][c] = polydl_scalar0_2;
            output[oj][4 * oi_t1 + 3][c] = polydl_scalar0_3;
          }
        } else {
          #pragma omp simd simdlen(16)
          for (int c = 0; c <= 23; ++c) {
            float polydl_scalar0_0;
            float polydl_scalar0_1;
            polydl_scalar0_0 = bias[c];
            polydl_scalar0_1 = bias[c];
            polydl_scalar0_0 += filter[0][0][c] * input[oj][4 * oi_t1][c];
            polydl_scalar0_1 += filter[0][0][c] * input[oj][4 * oi_t1 + 1][c];
            polydl_scalar0_0 += filter[0][1][c] * input[oj][4 * oi_t1 + 1][c];
            polydl_scalar0_1 += filter[0][1][c] * input[oj][4 * oi_t1 + 2][c];
            polydl_scalar0_0 += filter[0][2][c] * input[oj][4 * oi_t1 + 2][c];
            polydl_scalar0_1 += filter[0][2][c] * input[oj][4 * oi_t1 + 3][c];
            polydl_scalar0_0 += filter[1][0][c] * input[oj + 1][4 * oi_t1][c];
            polydl_scalar0_1 += filter[1][0][c] * input[oj + 1][4 * oi_t1 + 1][c];
            polydl_scalar0_0 += filter[1][1][c] * input[oj + 1][4 * oi_t1 + 1][c];
            polydl_scalar0_1 += filter[1][1][c] * input[oj + 1][4 * oi_t1 + 2][c];
            polydl_scalar0_0 += filter[1][2][c] * input[oj + 1][4 * oi_t1 + 2][c];
            polydl_scalar0_1 += filter[1][2][c] * input[oj + 1][4 * oi_t1 + 3][c];
            polydl_scalar0_0 += filter[2][0][c] * input[oj + 2][4 * oi_t1][c];
            polydl_scalar0_1 += filter[2][0][c] * input[oj + 2][4 * oi_t1 + 1][c];
            polydl_scalar0_0 += filter[2][1][c] * input[oj + 2][4 * oi_t1 + 1][c];
            polydl_scalar0_1 += filter[2][1][c] * input[oj + 2][4 * oi_t1 + 2][c];
            polydl_scalar0_0 += filter[2][2][c] * input[oj + 2][4 * oi_t1 + 2][c];
            polydl_scalar0_1 += filter[2][2][c] * input[oj + 2][4 * oi_t1 + 3][c];
            polydl_scalar0_0 = (polydl_scalar0_0 < 0.0f) ? 0.0f : polydl_scalar0_0;
            polydl_scalar0_1 = (polydl_scalar0_1 < 0.0f) ? 0.0f : polydl_scalar0_1;
            output[oj][4 * oi_t1][c] = polydl_scalar0_0;
            output[oj][4 * oi_t1 + 1][c] = polydl_scalar0_1;
          }
        }
      }
    }
  }
}
#undef depthwise

/* for all processors */
void depthwise(float output[6][10][24], const float filter[3][3][24], const float bias[24],
               const float input[8][12][24])
{
  if (polydl_fits()) {
    polydl_tuned_depthwise(output, filter, bias, input);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int y = 0; y < 6; ++y)
    for (int x = 0; x < 10; ++x)
      for (int k = 0; k < 24; ++k)
        output[y][x][k] = bias[k];
  for (int oj = 0; oj < 6; ++oj)
    for (int oi = 0; oi < 10; ++oi)
      for (int kj = 0; kj < 3; ++kj)
        for (int ki = 0; ki < 3; ++ki)
          for (int c = 0; c < 24; ++c)
            output[oj][oi][c] += filter[kj][ki][c] * input[oj + kj][oi + ki][c];
  for (int y = 0; y < 6; ++y)
    for (int x = 0; x < 10; ++x)
      for (int k = 0; k < 24; ++k)
        output[y][x][k] = output[y][x][k] < 0.0f ? 0.0f : output[y][x][k];
#endif
}
void depthwise_release(void);
void depthwise_release(void)
{
}
const char *depthwise_missing(void);
const char *depthwise_missing(void)
{
  return polydl_missing();
}
/* for this one */
