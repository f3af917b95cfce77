#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
/* team */
static struct polydl_team polydl_team;

/* A convolution that keeps the size of the image: a condition finds out what lies beyond the border. */
#define conv_same polydl_tuned_conv_same
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void conv_same(float output[1][32][14][13], const float weights[32][16][3][3], const float input[1][16][14][13])
{
  {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    float input_padded[1][16][16][15] __attribute__((aligned(64)));
    #pragma omp parallel for
    for (int input_padded_1 = 0; input_padded_1 <= 15; ++input_padded_1) {
      for (int input_padded_2 = 0; input_padded_2 <= 15; ++input_padded_2) {
        if ((input_padded_2 >= 1) && (input_padded_2 <= 14)) {
          input_padded[0][input_padded_1][input_padded_2][0] = 0.0f;
          input_padded[0][input_padded_1][input_padded_2][14] = 0.0f;
        } else if (input_padded_2 == 15) {
          #pragma omp simd simdlen(8)
          for (int input_padded_3 = 0; input_padded_3 <= 14; ++input_padded_3) {
            input_padded[0][input_padded_1][15][input_padded_3] = 0.0f;
          }
        } else {
          #pragma omp simd simdlen(8)
          for (int input_padded_3 = 0; input_padded_3 <= 14; ++input_padded_3) {
            input_padded[0][input_padded_1][0][input_padded_3] = 0.0f;
          }
        }
      }
    }
    polydl_between();
    #pragma omp parallel for
    for (int input_1 = 0; input_1 <= 15; ++input_1) {
      for (int input_2 = 0; input_2 <= 13; ++input_2) {
        #pragma omp simd simdlen(8)
        for (int input_3 = 0; input_3 <= 12; ++input_3) {
          input_padded[0][input_1][input_2 + 1][input_3 + 1] = input[0][input_1][input_2][input_3];
        }
      }
    }
    polydl_between();
    #pragma omp parallel for
    for (int k = 0; k <= 31; ++k) {
      for (int y = 0; y <= 13; ++y) {
        #pragma omp simd simdlen(8)
        for (int x = 0; x <= 12; ++x) {
          output[0][k][y][x] = 0.0f;
        }
      }
    }
    for (int c = 0; c <= 15; ++c) {
      for (int r = 0; r <= 2; ++r) {
        polydl_between();
        #pragma omp parallel for
        for (int y = 0; y <= 13; ++y) {
          for (int s = 0; s <= 2; ++s) {
            for (int k = 0; k <= 31; ++k) {
              #pragma omp simd simdlen(8)
              for (int x = 0; x <= 12; ++x) {
                output[0][k][y][x] += weights[k][c][r][s] * input_padded[0][c][y + r][x + s];
              }
            }
          }
        }
      }
    }
    polydl_end(&polydl_call);
  }
}
#undef conv_same

/* for all processors */
void conv_same(float output[1][32][14][13], const float weights[32][16][3][3], const float input[1][16][14][13])
{
  if (polydl_fits()) {
    polydl_tuned_conv_same(output, weights, input);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int n = 0; n < 1; ++n)
    for (int k = 0; k < 32; ++k)
      for (int y = 0; y < 14; ++y)
        for (int x = 0; x < 13; ++x) {
          output[n][k][y][x] = 0.0f;
          for (int c = 0; c < 16; ++c)
            for (int r = 0; r < 3; ++r)
              for (int s = 0; s < 3; ++s) {
                int row = y + r - 1;
                int column = x + s - 1;
                if (row >= 0 && row < 14 && column >= 0 && column < 13)
                  output[n][k][y][x] += weights[k][c][r][s] * input[n][c][row][column];
              }
        }
#endif
}
void conv_same_release(void);
void conv_same_release(void)
{
}
const char *conv_same_missing(void);
const char *conv_same_missing(void)
{
  return polydl_missing();
}
/* for this one */
