#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
/* team */
static struct polydl_team polydl_team;

/* A product with a triangular matrix in blocks, and a pass over a triangle. */
#define triangle polydl_tuned_triangle
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void triangle(double C[4][40][24], double D[61][61], const double A[4][4][40][16], const double B[4][16][24])
{
  {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    for (int kt = 0; kt <= 3; ++kt) {
      polydl_between();
      #pragma omp parallel for collapse(2) schedule(dynamic)
      for (int j_t1 = 0; j_t1 <= 2; ++j_t1) {
        for (int it = kt; it <= 3; ++it) {
          for (int k = 0; k <= 15; ++k) {
            for (int i = 0; i <= 39; ++i) {
              #pragma omp simd simdlen(4)
              for (int j = 8 * j_t1; j <= ((8 * j_t1) + 7); ++j) {
                C[it][i][j] += A[it][kt][i][k] * B[kt][k][j];
              }
            }
          }
        }
      }
    }
    polydl_between();
    #pragma omp parallel for
    for (int i = 0; i <= 60; ++i) {
      #pragma omp simd simdlen(4)
      for (int j = 0; j <= i; ++j) {
        D[i][j] = (2.0 * D[i][j]) + 1.0;
      }
    }
    polydl_end(&polydl_call);
  }
}
#undef triangle

/* for all processors */
void triangle(double C[4][40][24], double D[61][61], const double A[4][4][40][16], const double B[4][16][24])
{
  if (polydl_fits()) {
    polydl_tuned_triangle(C, D, A, B);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int it = 0; it < 4; it++)
    for (int kt = 0; kt <= it; kt++)
      for (int i = 0; i < 40; i++)
        for (int k = 0; k < 16; k++)
          for (int j = 0; j < 24; j++)
            C[it][i][j] += A[it][kt][i][k] * B[kt][k][j];
  for (int i = 0; i < 61; i++)
    for (int j = 0; j <= i; j++)
      D[i][j] = 2.0 * D[i][j] + 1.0;
#endif
}
void triangle_release(void);
void triangle_release(void)
{
}
const char *triangle_missing(void);
const char *triangle_missing(void)
{
  return polydl_missing();
}
/* for this one */
