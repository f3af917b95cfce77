#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
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
          {
            float polydl_totals[4];
            polydl_four_totals_float(polydl_totals, polydl_sum0_0, polydl_sum0_1, polydl_sum0_2, polydl_sum0_3, 16);
            w[4 * i_t1] += alpha * polydl_totals[0];
            w[4 * i_t1 + 1] += alpha * polydl_totals[1];
            w[4 * i_t1 + 2] += alpha * polydl_totals[2];
            w[4 * i_t1 + 3] += alpha * polydl_totals[3];
          }
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
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
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
#endif
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
