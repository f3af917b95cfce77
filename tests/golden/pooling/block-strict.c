#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
static inline int polydl_min(int a, int b) { return a < b ? a : b; }

/* Maxima of 3 x 3 in steps of two, images first. */
#define pooling polydl_tuned_pooling
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void pooling(float output[5][9][20], const float input[5][19][41])
{
  {
    for (int c = 0; c <= 4; ++c) {
      for (int oj_t1 = 0; oj_t1 <= 4; ++oj_t1) {
        if (polydl_min(8, ((2 * oj_t1) + 1)) - (2 * oj_t1) == 1) {
          #pragma omp simd simdlen(16)
          for (int oi = 0; oi <= 19; ++oi) {
            float polydl_scalar0_0 = output[c][2 * oj_t1][oi];
            float polydl_scalar0_1 = output[c][2 * oj_t1 + 1][oi];
            polydl_scalar0_0 = (polydl_scalar0_0 > input[c][4 * oj_t1][2 * oi]) ? polydl_scalar0_0 : input[c][4 * oj_t1][2 * oi];
            polydl_scalar0_1 = (polydl_scalar0_1 > input[c][4 * oj_t1 + 2][2 * oi]) ? polydl_scalar0_1 : input[c][4 * oj_t1 + 2][2 * oi];
            polydl_scalar0_0 = (polydl_scalar0_0 > input[c][4 * oj_t1][2 * oi + 1]) ? polydl_scalar0_0 : input[c][4 * oj_t1][2 * oi + 1];
            polydl_scalar0_1 = (polydl_scalar0_1 > input[c][4 * oj_t1 + 2][2 * oi + 1]) ? polydl_scalar0_1 : input[c][4 * oj_t1 + 2][2 * oi + 1];
            polydl_scalar0_0 = (polydl_scalar0_0 > input[c][4 * oj_t1][2 * oi + 2]) ? polydl_scalar0_0 : input[c][4 * oj_t1][2 * oi + 2];
            polydl_scalar0_1 = (polydl_scalar0_1 > input[c][4 * oj_t1 + 2][2 * oi + 2]) ? polydl_scalar0_1 : input[c][4 * oj_t1 + 2][2 * oi + 2];
            polydl_scalar0_0 = (polydl_scalar0_0 > input[c][4 * oj_t1 + 1][2 * oi]) ? polydl_scalar0_0 : input[c][4 * oj_t1 + 1][2 * oi];
            polydl_scalar0_1 = (polydl_scalar0_1 > input[c][4 * oj_t1 + 3][2 * oi]) ? polydl_scalar0_1 : input[c][4 * oj_t1 + 3][2 * oi];
            polydl_scalar0_0 = (polydl_scalar0_0 > input[c][4 * oj_t1 + 1][2 * oi + 1]) ? polydl_scalar0_0 : input[c][4 * oj_t1 + 1][2 * oi + 1];
            polydl_scalar0_1 = (polydl_scalar0_1 > input[c][4 * oj_t1 + 3][2 * oi + 1]) ? polydl_scalar0_1 : input[c][4 * oj_t1 + 3][2 * oi + 1];
            polydl_scalar0_0 = (polydl_scalar0_0 > input[c][4 * oj_t1 + 1][2 * oi + 2]) ? polydl_scalar0_0 : input[c][4 * oj_t1 + 1][2 * oi + 2];
            polydl_scalar0_1 = (polydl_scalar0_1 > input[c][4 * oj_t1 + 3][2 * oi + 2]) ? polydl_scalar0_1 : input[c][4 * oj_t1 + 3][2 * oi + 2];
            polydl_scalar0_0 = (polydl_scalar0_0 > input[c][4 * oj_t1 + 2][2 * oi]) ? polydl_scalar0_0 : input[c][4 * oj_t1 + 2][2 * oi];
            polydl_scalar0_1 = (polydl_scalar0_1 > input[c][4 * oj_t1 + 4][2 * oi]) ? polydl_scalar0_1 : input[c][4 * oj_t1 + 4][2 * oi];
            polydl_scalar0_0 = (polydl_scalar0_0 > input[c][4 * oj_t1 + 2][2 * oi + 1]) ? polydl_scalar0_0 : input[c][4 * oj_t1 + 2][2 * oi + 1];
            polydl_scalar0_1 = (polydl_scalar0_1 > input[c][4 * oj_t1 + 4][2 * oi + 1]) ? polydl_scalar0_1 : input[c][4 * oj_t1 + 4][2 * oi + 1];
            polydl_scalar0_0 = (polydl_scalar0_0 > input[c][4 * oj_t1 + 2][2 * oi + 2]) ? polydl_scalar0_0 : input[c][4 * oj_t1 + 2][2 * oi + 2];
            polydl_scalar0_1 = (polydl_scalar0_1 > input[c][4 * oj_t1 + 4][2 * oi + 2]) ? polydl_scalar0_1 : input[c][4 * oj_t1 + 4][2 * oi + 2];
            output[c][2 * oj_t1][oi] = polydl_scalar0_0;
            output[c][2 * oj_t1 + 1][oi] = polydl_scalar0_1;
          }
        } else {
          #pragma omp simd simdlen(16)
          for (int oi = 0; oi <= 19; ++oi) {
            float polydl_scalar0 = output[c][2 * oj_t1][oi];
            polydl_scalar0 = (polydl_scalar0 > input[c][4 * oj_t1][2 * oi]) ? polydl_scalar0 : input[c][4 * oj_t1][2 * oi];
            polydl_scalar0 = (polydl_scalar0 > input[c][4 * oj_t1][2 * oi + 1]) ? polydl_scalar0 : input[c][4 * oj_t1][2 * oi + 1];
            polydl_scalar0 = (polydl_scalar0 > input[c][4 * oj_t1][2 * oi + 2]) ? polydl_scalar0 : input[c][4 * oj_t1][2 * oi + 2];
            polydl_scalar0 = (polydl_scalar0 > input[c][4 * oj_t1 + 1][2 * oi]) ? polydl_scalar0 : input[c][4 * oj_t1 + 1][2 * oi];
            polydl_scalar0 = (polydl_scalar0 > input[c][4 * oj_t1 + 1][2 * oi + 1]) ? polydl_scalar0 : input[c][4 * oj_t1 + 1][2 * oi + 1];
            polydl_scalar0 = (polydl_scalar0 > input[c][4 * oj_t1 + 1][2 * oi + 2]) ? polydl_scalar0 : input[c][4 * oj_t1 + 1][2 * oi + 2];
            polydl_scalar0 = (polydl_scalar0 > input[c][4 * oj_t1 + 2][2 * oi]) ? polydl_scalar0 : input[c][4 * oj_t1 + 2][2 * oi];
            polydl_scalar0 = (polydl_scalar0 > input[c][4 * oj_t1 + 2][2 * oi + 1]) ? polydl_scalar0 : input[c][4 * oj_t1 + 2][2 * oi + 1];
            polydl_scalar0 = (polydl_scalar0 > input[c][4 * oj_t1 + 2][2 * oi + 2]) ? polydl_scalar0 : input[c][4 * oj_t1 + 2][2 * oi + 2];
            output[c][2 * oj_t1][oi] = polydl_scalar0;
          }
        }
      }
    }
  }
}
#undef pooling

/* for all processors */
void pooling(float output[5][9][20], const float input[5][19][41])
{
  if (polydl_fits()) {
    polydl_tuned_pooling(output, input);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int c = 0; c < 5; ++c)
    for (int oj = 0; oj < 9; ++oj)
      for (int oi = 0; oi < 20; ++oi)
        for (int kj = 0; kj < 3; ++kj)
          for (int ki = 0; ki < 3; ++ki)
            output[c][oj][oi] = output[c][oj][oi] > input[c][2 * oj + kj][2 * oi + ki]
                                    ? output[c][oj][oi] : input[c][2 * oj + kj][2 * oi + ki];
#endif
}
void pooling_release(void);
void pooling_release(void)
{
}
const char *pooling_missing(void);
const char *pooling_missing(void)
{
  return polydl_missing();
}
/* for this one */
