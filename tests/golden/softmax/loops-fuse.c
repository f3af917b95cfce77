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
#include <math.h>
#if defined __x86_64__ && defined __GLIBC__ && !defined POLYDL_SCALAR_MATH
#if __GLIBC_PREREQ(2, 22)
#pragma omp declare simd notinbranch
float expf(float) __attribute__((const));
#endif
#endif

/* processor */
static inline int polydl_min(int a, int b) { return a < b ? a : b; }
/* Of the lanes of a vector the one that comes first by `>`; a NaN where all are. */
static inline float polydl_greatest_float(const float *lanes, int count)
{
  float chosen = lanes[0];
  for (int lane = 1; lane < count; ++lane)
    chosen = lanes[lane] > chosen || chosen != chosen ? lanes[lane] : chosen;
  return chosen;
}
/* fmaxf, which compilers leave a call as long as there may be NaNs. */
static inline float polydl_fmaxf(float a, float b)
{
  const float chosen = a > b ? a : b;
  return b != b ? a : chosen;
}
/* team */
static struct polydl_team polydl_team;

/* Functions of <math.h> in sums and element by element. */
#include <math.h>
#define softmax polydl_tuned_softmax
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void softmax(float y[20][60], float x[20][60])
{
  {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    #pragma omp parallel for
    for (int i = 0; i <= 19; ++i) {
      float most_of[1];
      float sum_of[1];
      most_of[0] = x[i][0];
      {
        float polydl_sum0[8];
        #pragma omp simd
        for (int polydl_lane = 0; polydl_lane < 8; ++polydl_lane)
          polydl_sum0[polydl_lane] = most_of[0];
        for (int polydl_c3_first = 1; polydl_c3_first <= 56; polydl_c3_first += 8) {
          #pragma omp simd simdlen(8)
          for (int polydl_c3 = polydl_c3_first; polydl_c3 <= polydl_c3_first + 7; ++polydl_c3) {
            polydl_sum0[polydl_c3 - polydl_c3_first] = polydl_fmaxf(polydl_sum0[polydl_c3 - polydl_c3_first], x[i][polydl_c3]);
          }
        }
        #pragma omp simd simdlen(8)
        for (int polydl_c3 = 57; polydl_c3 <= 59; ++polydl_c3) {
          polydl_sum0[polydl_c3 - 57] = polydl_fmaxf(polydl_sum0[polydl_c3 - 57], x[i][polydl_c3]);
        }
        most_of[0] = polydl_greatest_float(polydl_sum0, 8);
      }
      sum_of[0] = 0;
      for (int polydl_c3 = 0; polydl_c3 <= 7; ++polydl_c3) {
        if ((8 * polydl_c3) <= polydl_min(59, ((8 * polydl_c3) + 7))) {
          {
            const float polydl_once0 = most_of[0];
            float polydl_sum1 = 0;
            #pragma omp simd simdlen(8) reduction(+: polydl_sum1)
            for (int j = 8 * polydl_c3; j <= polydl_min(59, ((8 * polydl_c3) + 7)); ++j) {
              float polydl_scalar0;
              polydl_scalar0 = expf(x[i][j] - polydl_once0);
              polydl_sum1 += polydl_scalar0;
              y[i][j] = polydl_scalar0;
            }
            sum_of[0] += polydl_sum1;
          }
        }
      }
      {
        const float polydl_over0 = 1 / sum_of[0];
        #pragma omp simd simdlen(8)
        for (int polydl_c3 = 0; polydl_c3 <= 59; ++polydl_c3) {
          y[i][polydl_c3] = sqrtf(y[i][polydl_c3] * polydl_over0);
        }
      }
    }
    polydl_end(&polydl_call);
  }
}
#undef softmax

/* for all processors */
void softmax(float y[20][60], float x[20][60])
{
  if (polydl_fits()) {
    polydl_tuned_softmax(y, x);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 0; i < 20; i++) {
    float most = x[i][0];
    for (int j = 1; j < 60; j++)
      most = fmaxf(most, x[i][j]);
    float sum = 0;
    for (int j = 0; j < 60; j++) {
      y[i][j] = expf(x[i][j] - most);
      sum += y[i][j];
    }
    for (int j = 0; j < 60; j++)
      y[i][j] = sqrtf(y[i][j] / sum);
  }
#endif
}
void softmax_release(void);
void softmax_release(void)
{
}
const char *softmax_missing(void);
const char *softmax_missing(void)
{
  return polydl_missing();
}
/* for this one */
