#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
/* team */
static struct polydl_team polydl_team;

/* Loops that only some orders keep, one of them backwards. */
#define sweep polydl_tuned_sweep
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void sweep(float A[30][31], double x[40], double L[40][40], double b[40])
{
  {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    for (int i = 1; i <= 29; ++i) {
      for (int j = 1; j <= 29; ++j) {
        A[i][j] = 0.5f * (A[i - 1][j + 1] + A[i][j - 1]);
      }
    }
    #pragma omp parallel for simd simdlen(4)
    for (int i = -39; i <= 0; ++i) {
      x[-i] = b[-i];
    }
    for (int i = -38; i <= 0; ++i) {
      for (int j = (-i) + 1; j <= 39; ++j) {
        x[-i] = x[-i] - (L[-i][j] * x[j]);
      }
    }
    polydl_end(&polydl_call);
  }
}
#undef sweep

/* for all processors */
void sweep(float A[30][31], double x[40], double L[40][40], double b[40])
{
  if (polydl_fits()) {
    polydl_tuned_sweep(A, x, L, b);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 1; i < 30; i++)
    for (int j = 1; j < 30; j++)
      A[i][j] = 0.5f * (A[i - 1][j + 1] + A[i][j - 1]);
  for (int i = 39; i >= 0; i--) {
    x[i] = b[i];
    for (int j = i + 1; j < 40; j++)
      x[i] = x[i] - L[i][j] * x[j];
  }
#endif
}
void sweep_release(void);
void sweep_release(void)
{
}
const char *sweep_missing(void);
const char *sweep_missing(void)
{
  return polydl_missing();
}
/* for this one */
