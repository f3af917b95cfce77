#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */

#include <stdint.h>

/* The mean of 3 x 3 bytes; the sum is a scalar of each pixel. */
#define blur polydl_tuned_blur
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void blur(const uint8_t *src, uint8_t *dst)
{
  {
    int sum_of[47][63] __attribute__((aligned(64)));
    for (int y = 1; y <= 46; ++y) {
      #pragma omp simd simdlen(16)
      for (int x = 1; x <= 62; ++x) {
        sum_of[y][x] = 0;
      }
    }
    for (int y = 1; y <= 46; ++y) {
      #pragma omp simd simdlen(16)
      for (int x = 1; x <= 62; ++x) {
        int polydl_scalar0 = sum_of[y][x];
        polydl_scalar0 += src[64 * (long)y + (long)x - 65];
        polydl_scalar0 += src[64 * (long)y + (long)x - 64];
        polydl_scalar0 += src[64 * (long)y + (long)x - 63];
        polydl_scalar0 += src[64 * (long)y + (long)x - 1];
        polydl_scalar0 += src[64 * (long)y + (long)x];
        polydl_scalar0 += src[64 * (long)y + (long)x + 1];
        polydl_scalar0 += src[64 * (long)y + (long)x + 63];
        polydl_scalar0 += src[64 * (long)y + (long)x + 64];
        polydl_scalar0 += src[64 * (long)y + (long)x + 65];
        sum_of[y][x] = polydl_scalar0;
      }
      #pragma omp simd simdlen(16)
      for (int x = 1; x <= 62; ++x) {
        dst[64 * (long)y + (long)x] = sum_of[y][x] / 9;
      }
    }
  }
}
#undef blur

/* for all processors */
void blur(const uint8_t *src, uint8_t *dst)
{
  if (polydl_fits()) {
    polydl_tuned_blur(src, dst);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int y = 1; y < 47; y++)
    for (int x = 1; x < 63; x++) {
      int sum = 0;
      for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
          sum += src[(y + dy) * 64 + x + dx];
      dst[y * 64 + x] = sum / 9;
    }
#endif
}
void blur_release(void);
void blur_release(void)
{
}
const char *blur_missing(void);
const char *blur_missing(void)
{
  return polydl_missing();
}
/* for this one */
