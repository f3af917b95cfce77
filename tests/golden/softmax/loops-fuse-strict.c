#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
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
      for (int j = 1; j <= 59; ++j) {
        most_of[0] = polydl_fmaxf(most_of[0], x[i][j]);
      }
      sum_of[0] = 0;
      for (int j = 0; j <= 59; ++j) {
        y[i][j] = expf(x[i][j] - most_of[0]);
        sum_of[0] += y[i][j];
      }
      #pragma omp simd simdlen(8)
      for (int j = 0; j <= 59; ++j) {
        y[i][j] = sqrtf(y[i][j] / sum_of[0]);
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
