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
/* team */
static struct polydl_team polydl_team;

/* q = A p and s = A'r.
 *
 * Override a size with -D.
 */
#ifndef N
#define N 4096
#endif
#define bicgk polydl_tuned_bicgk
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void bicgk(const float A[N][N], const float p[N], const float r[N], float q[N], float s[N])
{
  {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    #pragma omp parallel for simd simdlen(16)
    for (int i = 0; i <= 4095; ++i) {
      q[i] = 0.0f;
    }
    polydl_between();
    #pragma omp parallel for simd simdlen(16)
    for (int i = 0; i <= 4095; ++i) {
      s[i] = 0.0f;
    }
    polydl_between();
    #pragma omp parallel for reduction(+: s[:4096])
    for (int i_t1 = 0; i_t1 <= 1023; ++i_t1) {
      {
        const float polydl_once0_0 = r[4 * i_t1];
        const float polydl_once0_1 = r[4 * i_t1 + 1];
        const float polydl_once0_2 = r[4 * i_t1 + 2];
        const float polydl_once0_3 = r[4 * i_t1 + 3];
        float polydl_sum0_0[16] = {0}, polydl_sum0_1[16] = {0}, polydl_sum0_2[16] = {0}, polydl_sum0_3[16] = {0};
        for (int polydl_j_first = 0; polydl_j_first <= 4095; polydl_j_first += 16) {
          #pragma omp simd simdlen(16)
          for (int j = polydl_j_first; j <= polydl_j_first + 15; ++j) {
            float polydl_scalar2 = s[j];
            polydl_sum0_0[j - polydl_j_first] += A[4 * i_t1][j] * p[j];
            polydl_scalar2 += A[4 * i_t1][j] * polydl_once0_0;
            polydl_sum0_1[j - polydl_j_first] += A[4 * i_t1 + 1][j] * p[j];
            polydl_scalar2 += A[4 * i_t1 + 1][j] * polydl_once0_1;
            polydl_sum0_2[j - polydl_j_first] += A[4 * i_t1 + 2][j] * p[j];
            polydl_scalar2 += A[4 * i_t1 + 2][j] * polydl_once0_2;
            polydl_sum0_3[j - polydl_j_first] += A[4 * i_t1 + 3][j] * p[j];
            polydl_scalar2 += A[4 * i_t1 + 3][j] * polydl_once0_3;
            s[j] = polydl_scalar2;
          }
        }
        q[4 * i_t1] += polydl_total_float(polydl_sum0_0, 16);
        q[4 * i_t1 + 1] += polydl_total_float(polydl_sum0_1, 16);
        q[4 * i_t1 + 2] += polydl_total_float(polydl_sum0_2, 16);
        q[4 * i_t1 + 3] += polydl_total_float(polydl_sum0_3, 16);
      }
    }
    polydl_end(&polydl_call);
  }
}
#undef bicgk

/* for all processors */
void bicgk(const float A[N][N], const float p[N], const float r[N], float q[N], float s[N])
{
  if (polydl_fits()) {
    polydl_tuned_bicgk(A, p, r, q, s);
    return;
  }
  for (int i = 0; i < N; ++i)
    q[i] = 0.0f;

  for (int i = 0; i < N; ++i)
    s[i] = 0.0f;

  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      q[i] += A[i][j] * p[j];

  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      s[j] += A[i][j] * r[i];
}
void bicgk_release(void);
void bicgk_release(void)
{
}
const char *bicgk_missing(void);
const char *bicgk_missing(void)
{
  return polydl_missing();
}
/* for this one */
