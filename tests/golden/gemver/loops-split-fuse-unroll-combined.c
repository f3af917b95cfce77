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

/* B = A + u1 v1' + u2 v2', then x = beta B'y + z and w = alpha B x.
 *
 * Override a size with -D.
 */
#ifndef N
#define N 1024
#endif
#define gemver polydl_tuned_gemver
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void gemver(const float alpha, const float beta, const float A[N][N], const float u1[N], const float v1[N],
            const float u2[N], const float v2[N], const float y[N], const float z[N], float B[N][N], float x[N], float w[N])
{
  {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    #pragma omp parallel for simd simdlen(16)
    for (int i = 0; i <= 1023; ++i) {
      x[i] = z[i];
    }
    polydl_between();
    #pragma omp parallel for reduction(+: x[:1024])
    for (int i_block_t1 = 0; i_block_t1 <= 1; ++i_block_t1) {
      for (int i_block = 64 * i_block_t1; i_block <= ((64 * i_block_t1) + 63); ++i_block) {
        for (int i = 0; i <= 7; ++i) {
          for (int j_t1 = 0; j_t1 <= 1; ++j_t1) {
            {
              const float polydl_once0 = u1[8 * i_block + i];
              const float polydl_once1 = u2[8 * i_block + i];
              const float polydl_once2 = y[8 * i_block + i];
              #pragma omp simd simdlen(16)
              for (int j = 512 * j_t1; j <= ((512 * j_t1) + 511); ++j) {
                float polydl_scalar0;
                polydl_scalar0 = (A[8 * i_block + i][j] + (polydl_once0 * v1[j])) + (polydl_once1 * v2[j]);
                x[j] += (beta * polydl_once2) * polydl_scalar0;
                B[8 * i_block + i][j] = polydl_scalar0;
              }
            }
          }
        }
      }
    }
    polydl_between();
    #pragma omp parallel for simd simdlen(16)
    for (int i = 0; i <= 1023; ++i) {
      w[i] = 0.0f;
    }
    polydl_between();
    #pragma omp parallel for
    for (int i_t2 = 0; i_t2 <= 3; ++i_t2) {
      for (int i_t1 = 64 * i_t2; i_t1 <= ((64 * i_t2) + 63); ++i_t1) {
        {
          float polydl_sum0_0[16] = {0}, polydl_sum0_1[16] = {0}, polydl_sum0_2[16] = {0}, polydl_sum0_3[16] = {0};
          for (int polydl_j_first = 0; polydl_j_first <= 1023; polydl_j_first += 16) {
            #pragma omp simd simdlen(16)
            for (int j = polydl_j_first; j <= polydl_j_first + 15; ++j) {
              polydl_sum0_0[j - polydl_j_first] += B[4 * i_t1][j] * x[j];
              polydl_sum0_1[j - polydl_j_first] += B[4 * i_t1 + 1][j] * x[j];
              polydl_sum0_2[j - polydl_j_first] += B[4 * i_t1 + 2][j] * x[j];
              polydl_sum0_3[j - polydl_j_first] += B[4 * i_t1 + 3][j] * x[j];
            }
          }
          w[4 * i_t1] += alpha * polydl_total_float(polydl_sum0_0, 16);
          w[4 * i_t1 + 1] += alpha * polydl_total_float(polydl_sum0_1, 16);
          w[4 * i_t1 + 2] += alpha * polydl_total_float(polydl_sum0_2, 16);
          w[4 * i_t1 + 3] += alpha * polydl_total_float(polydl_sum0_3, 16);
        }
      }
    }
    polydl_end(&polydl_call);
  }
}
#undef gemver

/* for all processors */
void gemver(const float alpha, const float beta, const float A[N][N], const float u1[N], const float v1[N],
            const float u2[N], const float v2[N], const float y[N], const float z[N], float B[N][N], float x[N], float w[N])
{
  if (polydl_fits()) {
    polydl_tuned_gemver(alpha, beta, A, u1, v1, u2, v2, y, z, B, x, w);
    return;
  }
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      B[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j];

  for (int i = 0; i < N; ++i)
    x[i] = z[i];

  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      x[j] += beta * B[i][j] * y[i];

  for (int i = 0; i < N; ++i)
    w[i] = 0.0f;

  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      w[i] += alpha * B[i][j] * x[j];
}
void gemver_release(void);
void gemver_release(void)
{
}
const char *gemver_missing(void);
const char *gemver_missing(void)
{
  return polydl_missing();
}
/* for this one */
