#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
#include <string.h>
/* The sum of up to 16 lanes. Of a whole vector halves are read: with a copy of it, or a read of all of it, gcc
   stores it in each iteration of the loop that adds to it. */
static inline float polydl_total_float(const float *lanes, int count)
{
#ifdef __GNUC__
  typedef float polydl_half __attribute__((vector_size(32), aligned(sizeof(float)), may_alias));
  typedef float polydl_quarter __attribute__((vector_size(16)));
  polydl_half half;
  if (count == 16) {
    half = ((const polydl_half *)lanes)[0] + ((const polydl_half *)lanes)[1];
  } else if (count == 8) {
    half = *(const polydl_half *)lanes;
  } else {
    half = (polydl_half){0};
    for (int lane = 0; lane < count; ++lane)
      half[lane % 8] += lanes[lane];
  }
  polydl_quarter quarter, other;
  memcpy(&quarter, &half, 16);
  memcpy(&other, (const char *)&half + 16, 16);
  quarter += other;
  return (quarter[0] + quarter[2]) + (quarter[1] + quarter[3]);
#else
  float copy[16] = {0};
  for (int lane = 0; lane < count; ++lane)
    copy[lane] = lanes[lane];
  for (count = 8; count; count /= 2)
    for (int lane = 0; lane < count; ++lane)
      copy[lane] += copy[lane + count];
  return copy[0];
#endif
}
/* fmaxf, which compilers leave a call as long as there may be NaNs. */
static inline float polydl_fmaxf(float a, float b)
{
  const float chosen = a > b ? a : b;
  return b != b ? a : chosen;
}

/* Rows of 7 and 5 pixels: the image of each channel is as one row. */
#include <math.h>
#define instance_norm polydl_tuned_instance_norm
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void instance_norm(float y[3][7][5], const float x[3][7][5], float mean[3])
{
  {
    float (*x_flat)[35] = (void *)x;
    float (*y_flat)[35] = (void *)y;
    for (int c = 0; c <= 2; ++c) {
      mean[c] = 0;
      {
        float polydl_sum0[8] = {0};
        for (int polydl_i_j_first = 0; polydl_i_j_first <= 31; polydl_i_j_first += 8) {
          #pragma omp simd simdlen(8)
          for (int i_j = polydl_i_j_first; i_j <= polydl_i_j_first + 7; ++i_j) {
            polydl_sum0[i_j - polydl_i_j_first] += x_flat[c][i_j];
          }
        }
        #pragma omp simd simdlen(8)
        for (int i_j = 32; i_j <= 34; ++i_j) {
          polydl_sum0[i_j - 32] += x_flat[c][i_j];
        }
        mean[c] += polydl_total_float(polydl_sum0, 8);
      }
      mean[c] /= 35;
      #pragma omp simd simdlen(8)
      for (int i_j = 0; i_j <= 34; ++i_j) {
        y_flat[c][i_j] = polydl_fmaxf(x_flat[c][i_j] - mean[c], 0.0f);
      }
    }
  }
}
#undef instance_norm

/* for all processors */
void instance_norm(float y[3][7][5], const float x[3][7][5], float mean[3])
{
  if (polydl_fits()) {
    polydl_tuned_instance_norm(y, x, mean);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int c = 0; c < 3; c++) {
    mean[c] = 0;
    for (int i = 0; i < 7; i++)
      for (int j = 0; j < 5; j++)
        mean[c] += x[c][i][j];
    mean[c] /= 35;
    for (int i = 0; i < 7; i++)
      for (int j = 0; j < 5; j++)
        y[c][i][j] = fmaxf(x[c][i][j] - mean[c], 0.0f);
  }
#endif
}
void instance_norm_release(void);
void instance_norm_release(void)
{
}
const char *instance_norm_missing(void);
const char *instance_norm_missing(void)
{
  return polydl_missing();
}
/* for this one */
