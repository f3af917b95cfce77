#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
#include <math.h>
#ifdef __GNUC__
float sqrtf(float) __attribute__((const));
#endif

/* processor */
#include <stdint.h>
#include <string.h>
#if defined __AVX512F__
#include <immintrin.h>
#elif defined __SSE2__
#include <emmintrin.h> /* which a compiler reads in a tenth of the time */
#endif
/* Copies to where nobody will read soon: whole lines past the caches, what is left at both ends through them. */
static inline void polydl_stream(void *to, const void *from, size_t bytes)
{
  char *target = to;
  const char *source = from;
  size_t done = 0;
#ifdef __SSE2__
  done = -(uintptr_t)target % 64;
  if (done > bytes)
    done = bytes;
  if (done)
    memcpy(target, source, done);
  for (; done + 64 <= bytes; done += 64) {
#ifdef __AVX512F__
    _mm512_stream_si512((void *)(target + done), _mm512_loadu_si512(source + done));
#else
    for (int part = 0; part < 64; part += 16)
      _mm_stream_si128((__m128i *)(target + done + part), _mm_loadu_si128((const __m128i *)(source + done + part)));
#endif
  }
#endif
  if (done < bytes)
    memcpy(target + done, source + done, bytes - done);
}
/* fmaxf, which compilers leave a call as long as there may be NaNs. */
static inline float polydl_fmaxf(float a, float b)
{
  const float chosen = a > b ? a : b;
  return b != b ? a : chosen;
}
/* What was written past the caches is in memory before anything that follows. */
static inline void polydl_streamed(void)
{
#ifdef __SSE2__
  _mm_sfence();
#endif
}
/* team */
static struct polydl_team polydl_team;

/* Batch normalization as in training, then ReLU: sums in double, each channel's while it is in a cache. */
#include <math.h>
#define COUNT (4.0 * 28 * 28)
#define bnorm_train polydl_tuned_bnorm_train
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void bnorm_train(float output[4][4][28][28][16], const float input[4][4][28][28][16], const float gamma[4][16],
                 const float beta[4][16])
{
  float scale[4][16], shift[4][16];
  double sum[4][16], squares[4][16];
  {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    #pragma omp parallel
    {
      #pragma omp for
      for (int tile = 0; tile <= 3; ++tile) {
        _Alignas(64) float scale[1][16];
        _Alignas(64) float shift[1][16];
        _Alignas(64) double sum[1][16];
        _Alignas(64) double squares[1][16];
        #pragma omp simd simdlen(4)
        for (int polydl_c3 = 0; polydl_c3 <= 15; ++polydl_c3) {
          sum[0][polydl_c3] = 0.0;
          squares[0][polydl_c3] = 0.0;
        }
        {
          float polydl_row0[16] = {0};
          float polydl_row1[16] = {0};
          for (int polydl_c3 = 0; polydl_c3 <= 3; ++polydl_c3) {
            for (int h = 0; h <= 27; ++h) {
              {
                float polydl_part0_0[16] = {0}, polydl_part0_1[16] = {0};
                float polydl_part1_0[16] = {0}, polydl_part1_1[16] = {0};
                for (int w = 0; w <= 27; w += 2) {
                  #pragma omp simd simdlen(8)
                  for (int c = 0; c <= 15; ++c) {
                    polydl_part0_0[c] += input[polydl_c3][tile][h][w][c];
                    polydl_part1_0[c] += input[polydl_c3][tile][h][w][c] * input[polydl_c3][tile][h][w][c];
                    polydl_part0_1[c] += input[polydl_c3][tile][h][w + 1][c];
                    polydl_part1_1[c] += input[polydl_c3][tile][h][w + 1][c] * input[polydl_c3][tile][h][w + 1][c];
                  }
                }
                #pragma omp simd
                for (int c = 0; c < 16; ++c)
                  polydl_row0[c] += polydl_part0_0[c] + polydl_part0_1[c];
                #pragma omp simd
                for (int c = 0; c < 16; ++c)
                  polydl_row1[c] += polydl_part1_0[c] + polydl_part1_1[c];
              }
            }
          }
          #pragma omp simd
          for (int c = 0; c < 16; ++c)
            sum[0][c] += polydl_row0[c];
          #pragma omp simd
          for (int c = 0; c < 16; ++c)
            squares[0][c] += polydl_row1[c];
        }
        #pragma omp simd simdlen(8)
        for (int polydl_c3 = 0; polydl_c3 <= 15; ++polydl_c3) {
          float polydl_scalar0;
          const double polydl_value0 = (double)(sum[0][polydl_c3] / ((4. * 28) * 28));
          polydl_scalar0 = gamma[tile][polydl_c3] / sqrtf((float)((squares[0][polydl_c3] / ((4. * 28) * 28)) - (polydl_value0 * polydl_value0)) + 1e-5f);
          shift[0][polydl_c3] = beta[tile][polydl_c3] - ((float)((double)(sum[0][polydl_c3] / ((4. * 28) * 28))) * polydl_scalar0);
          scale[0][polydl_c3] = polydl_scalar0;
        }
        for (int polydl_c3 = 0; polydl_c3 <= 3; ++polydl_c3) {
          for (int h = 0; h <= 27; ++h) {
            for (int w = 0; w <= 27; ++w) {
              {
                _Alignas(64) float polydl_scalar0[16];
                #pragma omp simd simdlen(8)
                for (int c = 0; c <= 15; ++c) {
                  polydl_scalar0[c] = polydl_fmaxf(0.0f, (input[polydl_c3][tile][h][w][c] * scale[0][c]) + shift[0][c]);
                }
                polydl_stream(&output[polydl_c3][tile][h][w][0], polydl_scalar0, (15 - 0 + 1) * sizeof *polydl_scalar0);
              }
            }
          }
        }
      }
      polydl_streamed();
    }
    polydl_end(&polydl_call);
  }
}
#undef bnorm_train

/* for all processors */
void bnorm_train(float output[4][4][28][28][16], const float input[4][4][28][28][16], const float gamma[4][16],
                 const float beta[4][16])
{
  if (polydl_fits()) {
    polydl_tuned_bnorm_train(output, input, gamma, beta);
    return;
  }
  float scale[4][16], shift[4][16];
  double sum[4][16], squares[4][16];
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int tile = 0; tile < 4; ++tile)
    for (int c = 0; c < 16; ++c) {
      sum[tile][c] = 0.0;
      squares[tile][c] = 0.0;
    }
  for (int img = 0; img < 4; ++img)
    for (int tile = 0; tile < 4; ++tile)
      for (int h = 0; h < 28; ++h)
        for (int w = 0; w < 28; ++w)
          for (int c = 0; c < 16; ++c) {
            sum[tile][c] += input[img][tile][h][w][c];
            squares[tile][c] += input[img][tile][h][w][c] * input[img][tile][h][w][c];
          }
  for (int tile = 0; tile < 4; ++tile)
    for (int c = 0; c < 16; ++c) {
      double mean = sum[tile][c] / COUNT;
      scale[tile][c] = gamma[tile][c] / sqrtf((float)(squares[tile][c] / COUNT - mean * mean) + 1e-5f);
      shift[tile][c] = beta[tile][c] - (float)mean * scale[tile][c];
    }
  for (int img = 0; img < 4; ++img)
    for (int tile = 0; tile < 4; ++tile)
      for (int h = 0; h < 28; ++h)
        for (int w = 0; w < 28; ++w)
          for (int c = 0; c < 16; ++c)
            output[img][tile][h][w][c] =
                fmaxf(0.0f, input[img][tile][h][w][c] * scale[tile][c] + shift[tile][c]);
#endif
}
void bnorm_train_release(void);
void bnorm_train_release(void)
{
}
const char *bnorm_train_missing(void);
const char *bnorm_train_missing(void)
{
  return polydl_missing();
}
/* for this one */
