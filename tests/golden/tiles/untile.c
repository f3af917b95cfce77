#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
/* team */
static struct polydl_team polydl_team;

#define MIN(x, y) ((x) < (y) ? (x) : (y))
#define product polydl_tuned_product
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void product(float c[40][36], const float a[40][24], const float b[24][36])
{
  {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    #pragma omp parallel for
    for (int i = 0; i <= 39; ++i) {
      for (int k = 0; k <= 23; ++k) {
        #pragma omp simd simdlen(8)
        for (int j = 0; j <= 35; ++j) {
          c[i][j] += a[i][k] * b[k][j];
        }
      }
    }
    polydl_end(&polydl_call);
  }
}
#undef product

/* for all processors */
void product(float c[40][36], const float a[40][24], const float b[24][36])
{
  if (polydl_fits()) {
    polydl_tuned_product(c, a, b);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int ii = 0; ii < 40; ii += 16)
    for (int kk = 0; kk < 24; kk += 9)
      for (int i = ii; i < MIN(ii + 16, 40); i++)
        for (int k = kk; k < MIN(kk + 9, 24); k++)
          for (int j = 0; j < 36; j++)
            c[i][j] += a[i][k] * b[k][j];
#endif
}
void product_release(void);
void product_release(void)
{
}
const char *product_missing(void);
const char *product_missing(void)
{
  return polydl_missing();
}
/* for this one */
