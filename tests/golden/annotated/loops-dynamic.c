#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
/* team */
static struct polydl_team polydl_team;

// A microkernel that is called between loops, with the loops that it equals (the comment holds a u).
#define B 3
static void kernel(float *c, const float *a, const float *b, int stride);
void kernel(float *c, const float *a, const float *b, int stride)
{
  for (int i = 0; i < B; ++i)
    for (int j = 0; j < B; ++j)
      for (int k = 0; k < B; ++k)
        c[i * stride + j] += a[i * stride + k] * b[k * stride + j];
}
#define nest polydl_tuned_nest
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void nest(float c[6][6], const float a[6][6], const float b[6][6])
{
  {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    #pragma omp parallel for schedule(dynamic)
    for (int it = 0; it <= 5; it += 3) {
      for (int jt = 0; jt <= 5; jt += 3) {
        for (int kt = 0; kt <= 5; kt += 3) {
          kernel(&c[it][jt], &a[it][kt], &b[kt][jt], 6);
        }
      }
    }
    polydl_between();
    #pragma omp parallel for simd
    for (int i = 0; i <= 5; ++i) {
      c[i][0] *= 2;
    }
    polydl_end(&polydl_call);
  }
}
#undef nest

/* for all processors */
void nest(float c[6][6], const float a[6][6], const float b[6][6])
{
  if (polydl_fits()) {
    polydl_tuned_nest(c, a, b);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int it = 0; it < 6; it += B)
    for (int jt = 0; jt < 6; jt += B)
      for (int kt = 0; kt < 6; kt += B) {
        kernel(&c[it][jt], /* not in place */ &a[it][kt],
               &b[kt][jt], 6); // stride 6
      }
  for (int i = 0; i < 6; ++i)
    c[i][0] *= 2;
#endif
}
void nest_release(void);
void nest_release(void)
{
}
const char *nest_missing(void);
const char *nest_missing(void)
{
  return polydl_missing();
}
/* for this one */
