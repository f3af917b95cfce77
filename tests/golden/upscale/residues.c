#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */

/* Twice the size along both axes, bilinear; rows of an odd number of pixels. */
#define H 8
#define W 24
#define upscale polydl_tuned_upscale
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void upscale(float out[2 * H][2 * W + 1], const float in[H + 1][W + 2])
{
  {
    for (int y_t1 = 0; y_t1 <= 3; ++y_t1) {
      for (int y = 2 * y_t1; y <= (2 * y_t1) + 1; ++y) {
        #pragma omp simd simdlen(8)
        for (int x = 0; x <= 23; ++x) {
          const float polydl_value0 = (float)(0.5f * 0);
          out[2 * y][2 * x] = ((1 - polydl_value0) * (((1 - polydl_value0) * in[y][x]) + (polydl_value0 * in[y][x + 1]))) + (polydl_value0 * (((1 - polydl_value0) * in[y + 1][x]) + (polydl_value0 * in[y + 1][x + 1])));
          const float polydl_value1 = (float)(0.5f * 0);
          const float polydl_value2 = (float)(0.5f * 1);
          out[2 * y][2 * x + 1] = ((1 - polydl_value1) * (((1 - polydl_value2) * in[y][x]) + (polydl_value2 * in[y][x + 1]))) + (polydl_value1 * (((1 - polydl_value2) * in[y + 1][x]) + (polydl_value2 * in[y + 1][x + 1])));
        }
        const float polydl_value3 = (float)(0.5f * 0);
        out[2 * y][48] = ((1 - polydl_value3) * (((1 - polydl_value3) * in[y][24]) + (polydl_value3 * in[y][25]))) + (polydl_value3 * (((1 - polydl_value3) * in[y + 1][24]) + (polydl_value3 * in[y + 1][25])));
        #pragma omp simd simdlen(8)
        for (int x = 0; x <= 23; ++x) {
          const float polydl_value4 = (float)(0.5f * 1);
          const float polydl_value5 = (float)(0.5f * 0);
          out[2 * y + 1][2 * x] = ((1 - polydl_value4) * (((1 - polydl_value5) * in[y][x]) + (polydl_value5 * in[y][x + 1]))) + (polydl_value4 * (((1 - polydl_value5) * in[y + 1][x]) + (polydl_value5 * in[y + 1][x + 1])));
          const float polydl_value6 = (float)(0.5f * 1);
          out[2 * y + 1][2 * x + 1] = ((1 - polydl_value6) * (((1 - polydl_value6) * in[y][x]) + (polydl_value6 * in[y][x + 1]))) + (polydl_value6 * (((1 - polydl_value6) * in[y + 1][x]) + (polydl_value6 * in[y + 1][x + 1])));
        }
        const float polydl_value7 = (float)(0.5f * 1);
        const float polydl_value8 = (float)(0.5f * 0);
        out[2 * y + 1][48] = ((1 - polydl_value7) * (((1 - polydl_value8) * in[y][24]) + (polydl_value8 * in[y][25]))) + (polydl_value7 * (((1 - polydl_value8) * in[y + 1][24]) + (polydl_value8 * in[y + 1][25])));
      }
    }
  }
}
#undef upscale

/* for all processors */
void upscale(float out[2 * H][2 * W + 1], const float in[H + 1][W + 2])
{
  if (polydl_fits()) {
    polydl_tuned_upscale(out, in);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int y = 0; y < 2 * H; y++)
    for (int x = 0; x < 2 * W + 1; x++) {
      float fy = 0.5f * (y % 2), fx = 0.5f * (x % 2);
      int iy = y / 2, ix = x / 2;
      out[y][x] = (1 - fy) * ((1 - fx) * in[iy][ix] + fx * in[iy][ix + 1]) +
                  fy * ((1 - fx) * in[iy + 1][ix] + fx * in[iy + 1][ix + 1]);
    }
#endif
}
void upscale_release(void);
void upscale_release(void)
{
}
const char *upscale_missing(void);
const char *upscale_missing(void)
{
  return polydl_missing();
}
/* for this one */
