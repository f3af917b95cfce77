#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
static inline int polydl_min(int a, int b) { return a < b ? a : b; }
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
#include <string.h>
#ifndef polydl_shuffled
#if defined(__clang__) || __GNUC__ >= 12
#define polydl_shuffled(kind, one, two, ...) __builtin_shufflevector(one, two, __VA_ARGS__)
#else
#define polydl_shuffled(kind, one, two, ...) __builtin_shuffle(one, two, (kind){__VA_ARGS__})
#endif
#endif
/* The sums of all lanes of each of four vectors. */
static inline void polydl_four_totals_float(float *to, const float *a, const float *b,
                                              const float *c, const float *d, int count)
{
#ifdef __GNUC__
  typedef float polydl_lanes16 __attribute__((vector_size(64), aligned(sizeof(float)), may_alias));
  typedef float polydl_lanes8 __attribute__((vector_size(32), aligned(sizeof(float)), may_alias));
  typedef float polydl_lanes4 __attribute__((vector_size(16), aligned(sizeof(float)), may_alias));
  typedef int polydl_places16 __attribute__((vector_size(64), unused));
  typedef int polydl_places8 __attribute__((vector_size(32), unused));
  typedef int polydl_places4 __attribute__((vector_size(16), unused));
  if (count == 16) {
    polydl_lanes16 ab16 = polydl_shuffled(polydl_places16, *(const polydl_lanes16 *)a, *(const polydl_lanes16 *)b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)
      + polydl_shuffled(polydl_places16, *(const polydl_lanes16 *)a, *(const polydl_lanes16 *)b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
    polydl_lanes16 cd16 = polydl_shuffled(polydl_places16, *(const polydl_lanes16 *)c, *(const polydl_lanes16 *)d, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)
      + polydl_shuffled(polydl_places16, *(const polydl_lanes16 *)c, *(const polydl_lanes16 *)d, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
    polydl_lanes16 all16 = polydl_shuffled(polydl_places16, ab16, cd16, 0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30)
      + polydl_shuffled(polydl_places16, ab16, cd16, 1, 3, 17, 19, 5, 7, 21, 23, 9, 11, 25, 27, 13, 15, 29, 31);
    polydl_lanes8 all8, all8_high;
    memcpy(&all8, &all16, sizeof all8);
    memcpy(&all8_high, (const char *)&all16 + sizeof all8, sizeof all8);
    all8 += all8_high;
    polydl_lanes4 all4, all4_high;
    memcpy(&all4, &all8, sizeof all4);
    memcpy(&all4_high, (const char *)&all8 + sizeof all4, sizeof all4);
    all4 += all4_high;
    memcpy(to, &all4, sizeof all4);
  } else if (count == 8) {
    polydl_lanes8 ab8 = polydl_shuffled(polydl_places8, *(const polydl_lanes8 *)a, *(const polydl_lanes8 *)b, 0, 1, 8, 9, 4, 5, 12, 13)
      + polydl_shuffled(polydl_places8, *(const polydl_lanes8 *)a, *(const polydl_lanes8 *)b, 2, 3, 10, 11, 6, 7, 14, 15);
    polydl_lanes8 cd8 = polydl_shuffled(polydl_places8, *(const polydl_lanes8 *)c, *(const polydl_lanes8 *)d, 0, 1, 8, 9, 4, 5, 12, 13)
      + polydl_shuffled(polydl_places8, *(const polydl_lanes8 *)c, *(const polydl_lanes8 *)d, 2, 3, 10, 11, 6, 7, 14, 15);
    polydl_lanes8 all8 = polydl_shuffled(polydl_places8, ab8, cd8, 0, 2, 8, 10, 4, 6, 12, 14)
      + polydl_shuffled(polydl_places8, ab8, cd8, 1, 3, 9, 11, 5, 7, 13, 15);
    polydl_lanes4 all4, all4_high;
    memcpy(&all4, &all8, sizeof all4);
    memcpy(&all4_high, (const char *)&all8 + sizeof all4, sizeof all4);
    all4 += all4_high;
    memcpy(to, &all4, sizeof all4);
  } else if (count == 4) {
    polydl_lanes4 ab4 = polydl_shuffled(polydl_places4, *(const polydl_lanes4 *)a, *(const polydl_lanes4 *)b, 0, 1, 4, 5)
      + polydl_shuffled(polydl_places4, *(const polydl_lanes4 *)a, *(const polydl_lanes4 *)b, 2, 3, 6, 7);
    polydl_lanes4 cd4 = polydl_shuffled(polydl_places4, *(const polydl_lanes4 *)c, *(const polydl_lanes4 *)d, 0, 1, 4, 5)
      + polydl_shuffled(polydl_places4, *(const polydl_lanes4 *)c, *(const polydl_lanes4 *)d, 2, 3, 6, 7);
    polydl_lanes4 all4 = polydl_shuffled(polydl_places4, ab4, cd4, 0, 2, 4, 6)
      + polydl_shuffled(polydl_places4, ab4, cd4, 1, 3, 5, 7);
    memcpy(to, &all4, sizeof all4);
  }
#else
  const float *const sums[4] = {a, b, c, d};
  for (int sum = 0; sum < 4; ++sum) {
    to[sum] = 0;
    for (int lane = 0; lane < count; ++lane)
      to[sum] += sums[sum][lane];
  }
#endif
}

/* A linear layer: rows of inputs by rows of weights. */
#define ROWS 13
#define OUTPUTS 22
#define INPUTS 192
#define linear polydl_tuned_linear
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void linear(float y[ROWS][OUTPUTS], const float x[ROWS][INPUTS], const float w[OUTPUTS][INPUTS]) {
  {
    for (int i = 0; i <= 12; ++i) {
      #pragma omp simd simdlen(8)
      for (int j = 0; j <= 21; ++j) {
        y[i][j] = 0.0f;
      }
    }
    for (int k_t1 = 0; k_t1 <= 2; ++k_t1) {
      for (int i_t1 = 0; i_t1 <= 3; ++i_t1) {
        for (int j_t1 = 0; j_t1 <= 7; ++j_t1) {
          if (polydl_min(12, ((4 * i_t1) + 3)) - (4 * i_t1) == 3) {
            if (polydl_min(21, ((3 * j_t1) + 2)) - (3 * j_t1) == 2) {
              {
                float polydl_sum0_0_0[8] = {0}, polydl_sum0_0_1[8] = {0}, polydl_sum0_0_2[8] = {0}, polydl_sum0_1_0[8] = {0}, polydl_sum0_1_1[8] = {0}, polydl_sum0_1_2[8] = {0}, polydl_sum0_2_0[8] = {0}, polydl_sum0_2_1[8] = {0}, polydl_sum0_2_2[8] = {0}, polydl_sum0_3_0[8] = {0}, polydl_sum0_3_1[8] = {0}, polydl_sum0_3_2[8] = {0};
                for (int polydl_k_first = 64 * k_t1; polydl_k_first <= ((64 * k_t1) + 63); polydl_k_first += 8) {
                  #pragma omp simd simdlen(8)
                  for (int k = polydl_k_first; k <= polydl_k_first + 7; ++k) {
                    polydl_sum0_0_0[k - polydl_k_first] += x[4 * i_t1][k] * w[3 * j_t1][k];
                    polydl_sum0_0_1[k - polydl_k_first] += x[4 * i_t1][k] * w[3 * j_t1 + 1][k];
                    polydl_sum0_0_2[k - polydl_k_first] += x[4 * i_t1][k] * w[3 * j_t1 + 2][k];
                    polydl_sum0_1_0[k - polydl_k_first] += x[4 * i_t1 + 1][k] * w[3 * j_t1][k];
                    polydl_sum0_1_1[k - polydl_k_first] += x[4 * i_t1 + 1][k] * w[3 * j_t1 + 1][k];
                    polydl_sum0_1_2[k - polydl_k_first] += x[4 * i_t1 + 1][k] * w[3 * j_t1 + 2][k];
                    polydl_sum0_2_0[k - polydl_k_first] += x[4 * i_t1 + 2][k] * w[3 * j_t1][k];
                    polydl_sum0_2_1[k - polydl_k_first] += x[4 * i_t1 + 2][k] * w[3 * j_t1 + 1][k];
                    polydl_sum0_2_2[k - polydl_k_first] += x[4 * i_t1 + 2][k] * w[3 * j_t1 + 2][k];
                    polydl_sum0_3_0[k - polydl_k_first] += x[4 * i_t1 + 3][k] * w[3 * j_t1][k];
                    polydl_sum0_3_1[k - polydl_k_first] += x[4 * i_t1 + 3][k] * w[3 * j_t1 + 1][k];
                    polydl_sum0_3_2[k - polydl_k_first] += x[4 * i_t1 + 3][k] * w[3 * j_t1 + 2][k];
                  }
                }
                {
                  float polydl_totals[4];
                  polydl_four_totals_float(polydl_totals, polydl_sum0_0_0, polydl_sum0_0_1, polydl_sum0_0_2, polydl_sum0_1_0, 8);
                  y[4 * i_t1][3 * j_t1] += polydl_totals[0];
                  y[4 * i_t1][3 * j_t1 + 1] += polydl_totals[1];
                  y[4 * i_t1][3 * j_t1 + 2] += polydl_totals[2];
                  y[4 * i_t1 + 1][3 * j_t1] += polydl_totals[3];
                }
                {
                  float polydl_totals[4];
                  polydl_four_totals_float(polydl_totals, polydl_sum0_1_1, polydl_sum0_1_2, polydl_sum0_2_0, polydl_sum0_2_1, 8);
                  y[4 * i_t1 + 1][3 * j_t1 + 1] += polydl_totals[0];
                  y[4 * i_t1 + 1][3 * j_t1 + 2] += polydl_totals[1];
                  y[4 * i_t1 + 2][3 * j_t1] += polydl_totals[2];
                  y[4 * i_t1 + 2][3 * j_t1 + 1] += polydl_totals[3];
                }
                {
                  float polydl_totals[4];
                  polydl_four_totals_float(polydl_totals, polydl_sum0_2_2, polydl_sum0_3_0, polydl_sum0_3_1, polydl_sum0_3_2, 8);
                  y[4 * i_t1 + 2][3 * j_t1 + 2] += polydl_totals[0];
                  y[4 * i_t1 + 3][3 * j_t1] += polydl_totals[1];
                  y[4 * i_t1 + 3][3 * j_t1 + 1] += polydl_totals[2];
                  y[4 * i_t1 + 3][3 * j_t1 + 2] += polydl_totals[3];
                }
              }
            } else {
              {
                float polydl_sum0_0_0[8] = {0}, polydl_sum0_1_0[8] = {0}, polydl_sum0_2_0[8] = {0}, polydl_sum0_3_0[8] = {0};
                for (int polydl_k_first = 64 * k_t1; polydl_k_first <= ((64 * k_t1) + 63); polydl_k_first += 8) {
                  #pragma omp simd simdlen(8)
                  for (int k = polydl_k_first; k <= polydl_k_first + 7; ++k) {
                    polydl_sum0_0_0[k - polydl_k_first] += x[4 * i_t1][k] * w[3 * j_t1][k];
                    polydl_sum0_1_0[k - polydl_k_first] += x[4 * i_t1 + 1][k] * w[3 * j_t1][k];
                    polydl_sum0_2_0[k - polydl_k_first] += x[4 * i_t1 + 2][k] * w[3 * j_t1][k];
                    polydl_sum0_3_0[k - polydl_k_first] += x[4 * i_t1 + 3][k] * w[3 * j_t1][k];
                  }
                }
                {
                  float polydl_totals[4];
                  polydl_four_totals_float(polydl_totals, polydl_sum0_0_0, polydl_sum0_1_0, polydl_sum0_2_0, polydl_sum0_3_0, 8);
                  y[4 * i_t1][3 * j_t1] += polydl_totals[0];
                  y[4 * i_t1 + 1][3 * j_t1] += polydl_totals[1];
                  y[4 * i_t1 + 2][3 * j_t1] += polydl_totals[2];
                  y[4 * i_t1 + 3][3 * j_t1] += polydl_totals[3];
                }
              }
            }
          } else if (polydl_min(21, ((3 * j_t1) + 2)) - (3 * j_t1) == 2) {
            {
              float polydl_sum0_0_0[8] = {0}, polydl_sum0_0_1[8] = {0}, polydl_sum0_0_2[8] = {0};
              for (int polydl_k_first = 64 * k_t1; polydl_k_first <= ((64 * k_t1) + 63); polydl_k_first += 8) {
                #pragma omp simd simdlen(8)
                for (int k = polydl_k_first; k <= polydl_k_first + 7; ++k) {
                  polydl_sum0_0_0[k - polydl_k_first] += x[4 * i_t1][k] * w[3 * j_t1][k];
                  polydl_sum0_0_1[k - polydl_k_first] += x[4 * i_t1][k] * w[3 * j_t1 + 1][k];
                  polydl_sum0_0_2[k - polydl_k_first] += x[4 * i_t1][k] * w[3 * j_t1 + 2][k];
                }
              }
              y[4 * i_t1][3 * j_t1] += polydl_total_float(polydl_sum0_0_0, 8);
              y[4 * i_t1][3 * j_t1 + 1] += polydl_total_float(polydl_sum0_0_1, 8);
              y[4 * i_t1][3 * j_t1 + 2] += polydl_total_float(polydl_sum0_0_2, 8);
            }
          } else {
            {
              float polydl_sum0_0_0[16] = {0};
              for (int polydl_k_first = 64 * k_t1; polydl_k_first <= ((64 * k_t1) + 63); polydl_k_first += 16) {
                #pragma omp simd simdlen(8)
                for (int k = polydl_k_first; k <= polydl_k_first + 15; ++k) {
                  polydl_sum0_0_0[k - polydl_k_first] += x[4 * i_t1][k] * w[3 * j_t1][k];
                }
              }
              #pragma omp simd
              for (int polydl_lane = 0; polydl_lane < 8; ++polydl_lane)
                polydl_sum0_0_0[polydl_lane] += polydl_sum0_0_0[polydl_lane + 8];
              y[4 * i_t1][3 * j_t1] += polydl_total_float(polydl_sum0_0_0, 8);
            }
          }
        }
      }
    }
  }
}
#undef linear

/* for all processors */
void linear(float y[ROWS][OUTPUTS], const float x[ROWS][INPUTS], const float w[OUTPUTS][INPUTS]) {
  if (polydl_fits()) {
    polydl_tuned_linear(y, x, w);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < OUTPUTS; j++) {
      y[i][j] = 0.0f;
      for (int k = 0; k < INPUTS; k++)
        y[i][j] += x[i][k] * w[j][k];
    }
#endif
}
void linear_release(void);
void linear_release(void)
{
}
const char *linear_missing(void);
const char *linear_missing(void)
{
  return polydl_missing();
}
/* for this one */
