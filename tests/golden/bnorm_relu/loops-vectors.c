#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
/* team */
static struct polydl_team polydl_team;

/* Batch normalization for inference, then ReLU in a nest of its own, on 4 images of 64 channels and 56x56.
 *
 * The mean, the variance and the learned parameters of each channel are folded into one scale and one shift.
 * Activations are blocked by 16 channels (nChw16c). Both nests are bound by memory: fused, they read and write the
 * tensor once. Override a size with -D, for example -D nImg=1.
 */
#ifndef nImg
#define nImg 4
#endif
#ifndef nChannels
#define nChannels 64
#endif
#ifndef height
#define height 56
#endif
#ifndef width
#define width 56
#endif
#ifndef BLOCK
#define BLOCK 16
#endif
#define bnorm_relu polydl_tuned_bnorm_relu
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void bnorm_relu(float output[nImg][nChannels / BLOCK][height][width][BLOCK],
                const float input[nImg][nChannels / BLOCK][height][width][BLOCK],
                const float scale[nChannels / BLOCK][BLOCK], const float shift[nChannels / BLOCK][BLOCK])
{
  {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    #pragma omp parallel for
    for (int img = 0; img <= 3; ++img) {
      for (int tile = 0; tile <= 3; ++tile) {
        for (int h = 0; h <= 55; ++h) {
          for (int w = 0; w <= 55; ++w) {
            #pragma omp simd simdlen(16)
            for (int c = 0; c <= 15; ++c) {
              output[img][tile][h][w][c] = (input[img][tile][h][w][c] * scale[tile][c]) + shift[tile][c];
            }
          }
        }
      }
    }
    polydl_between();
    #pragma omp parallel for
    for (int img = 0; img <= 3; ++img) {
      for (int tile = 0; tile <= 3; ++tile) {
        for (int h = 0; h <= 55; ++h) {
          for (int w = 0; w <= 55; ++w) {
            #pragma omp simd simdlen(8)
            for (int c = 0; c <= 15; ++c) {
              output[img][tile][h][w][c] = (output[img][tile][h][w][c] > 0.0f) ? output[img][tile][h][w][c] : 0.0f;
            }
          }
        }
      }
    }
    polydl_end(&polydl_call);
  }
}
#undef bnorm_relu

/* for all processors */
void bnorm_relu(float output[nImg][nChannels / BLOCK][height][width][BLOCK],
                const float input[nImg][nChannels / BLOCK][height][width][BLOCK],
                const float scale[nChannels / BLOCK][BLOCK], const float shift[nChannels / BLOCK][BLOCK])
{
  if (polydl_fits()) {
    polydl_tuned_bnorm_relu(output, input, scale, shift);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int img = 0; img < nImg; ++img)
    for (int tile = 0; tile < nChannels / BLOCK; ++tile)
      for (int h = 0; h < height; ++h)
        for (int w = 0; w < width; ++w)
          for (int c = 0; c < BLOCK; ++c)
            output[img][tile][h][w][c] = input[img][tile][h][w][c] * scale[tile][c] + shift[tile][c];

  for (int img = 0; img < nImg; ++img)
    for (int tile = 0; tile < nChannels / BLOCK; ++tile)
      for (int h = 0; h < height; ++h)
        for (int w = 0; w < width; ++w)
          for (int c = 0; c < BLOCK; ++c)
            output[img][tile][h][w][c] = output[img][tile][h][w][c] > 0.0f ? output[img][tile][h][w][c] : 0.0f;
#endif
}
void bnorm_relu_release(void);
void bnorm_relu_release(void)
{
}
const char *bnorm_relu_missing(void);
const char *bnorm_relu_missing(void)
{
  return polydl_missing();
}
/* for this one */
