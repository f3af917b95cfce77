#include <stddef.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
/* team */
static struct polydl_team polydl_team;
enum { polydl_arrays = 1, polydl_reserved = 1 };
static const size_t polydl_sizes[polydl_arrays] = {35840};
/* kept memory */
static const long polydl_gemm1_offsets_a[1] = {0};
static const long polydl_gemm1_offsets_b[1] = {0};
typedef float polydl_gemm1_vector8 __attribute__((vector_size(32), aligned(sizeof(float)), may_alias));
static const long polydl_gemm1_starts0[10] = {0, 256, 512, 768, 1024, 1280, 1536, 1792, 2048, 2304};
static const long polydl_gemm1_starts1[10] = {0, 448, 896, 1344, 1792, 2240, 2688, 3136, 3584, 4032};
static inline void polydl_gemm1_block0_3x4(const float *a, const float *b, float *c, long k, long count)
{
  polydl_gemm1_vector8 c0_0 = *(const polydl_gemm1_vector8 *)(c + 0);
  polydl_gemm1_vector8 c1_0 = *(const polydl_gemm1_vector8 *)(c + 8);
  polydl_gemm1_vector8 c2_0 = *(const polydl_gemm1_vector8 *)(c + 16);
  polydl_gemm1_vector8 c0_1 = *(const polydl_gemm1_vector8 *)(c + 112);
  polydl_gemm1_vector8 c1_1 = *(const polydl_gemm1_vector8 *)(c + 120);
  polydl_gemm1_vector8 c2_1 = *(const polydl_gemm1_vector8 *)(c + 128);
  polydl_gemm1_vector8 c0_2 = *(const polydl_gemm1_vector8 *)(c + 224);
  polydl_gemm1_vector8 c1_2 = *(const polydl_gemm1_vector8 *)(c + 232);
  polydl_gemm1_vector8 c2_2 = *(const polydl_gemm1_vector8 *)(c + 240);
  polydl_gemm1_vector8 c0_3 = *(const polydl_gemm1_vector8 *)(c + 336);
  polydl_gemm1_vector8 c1_3 = *(const polydl_gemm1_vector8 *)(c + 344);
  polydl_gemm1_vector8 c2_3 = *(const polydl_gemm1_vector8 *)(c + 352);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm1_offsets_a[r];
    const float *br = b + polydl_gemm1_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 224 + 0);
      const polydl_gemm1_vector8 a0 = *(const polydl_gemm1_vector8 *)(ar + l * 224 + 0);
      const polydl_gemm1_vector8 a1 = *(const polydl_gemm1_vector8 *)(ar + l * 224 + 8);
      __builtin_prefetch(ar + (l + 8) * 224 + 16);
      const polydl_gemm1_vector8 a2 = *(const polydl_gemm1_vector8 *)(ar + l * 224 + 16);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0; c2_0 += a2 * b0;
      const float b1 = bl[64]; c0_1 += a0 * b1; c1_1 += a1 * b1; c2_1 += a2 * b1;
      const float b2 = bl[128]; c0_2 += a0 * b2; c1_2 += a1 * b2; c2_2 += a2 * b2;
      const float b3 = bl[192]; c0_3 += a0 * b3; c1_3 += a1 * b3; c2_3 += a2 * b3;
    }
  }
  *(polydl_gemm1_vector8 *)(c + 0) = c0_0;
  *(polydl_gemm1_vector8 *)(c + 8) = c1_0;
  *(polydl_gemm1_vector8 *)(c + 16) = c2_0;
  *(polydl_gemm1_vector8 *)(c + 112) = c0_1;
  *(polydl_gemm1_vector8 *)(c + 120) = c1_1;
  *(polydl_gemm1_vector8 *)(c + 128) = c2_1;
  *(polydl_gemm1_vector8 *)(c + 224) = c0_2;
  *(polydl_gemm1_vector8 *)(c + 232) = c1_2;
  *(polydl_gemm1_vector8 *)(c + 240) = c2_2;
  *(polydl_gemm1_vector8 *)(c + 336) = c0_3;
  *(polydl_gemm1_vector8 *)(c + 344) = c1_3;
  *(polydl_gemm1_vector8 *)(c + 352) = c2_3;
}
static inline void polydl_gemm1_block1_2x4(const float *a, const float *b, float *c, long k, long count)
{
  polydl_gemm1_vector8 c0_0 = *(const polydl_gemm1_vector8 *)(c + 0);
  polydl_gemm1_vector8 c1_0 = *(const polydl_gemm1_vector8 *)(c + 8);
  polydl_gemm1_vector8 c0_1 = *(const polydl_gemm1_vector8 *)(c + 112);
  polydl_gemm1_vector8 c1_1 = *(const polydl_gemm1_vector8 *)(c + 120);
  polydl_gemm1_vector8 c0_2 = *(const polydl_gemm1_vector8 *)(c + 224);
  polydl_gemm1_vector8 c1_2 = *(const polydl_gemm1_vector8 *)(c + 232);
  polydl_gemm1_vector8 c0_3 = *(const polydl_gemm1_vector8 *)(c + 336);
  polydl_gemm1_vector8 c1_3 = *(const polydl_gemm1_vector8 *)(c + 344);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm1_offsets_a[r];
    const float *br = b + polydl_gemm1_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 224 + 0);
      const polydl_gemm1_vector8 a0 = *(const polydl_gemm1_vector8 *)(ar + l * 224 + 0);
      const polydl_gemm1_vector8 a1 = *(const polydl_gemm1_vector8 *)(ar + l * 224 + 8);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0;
      const float b1 = bl[64]; c0_1 += a0 * b1; c1_1 += a1 * b1;
      const float b2 = bl[128]; c0_2 += a0 * b2; c1_2 += a1 * b2;
      const float b3 = bl[192]; c0_3 += a0 * b3; c1_3 += a1 * b3;
    }
  }
  *(polydl_gemm1_vector8 *)(c + 0) = c0_0;
  *(polydl_gemm1_vector8 *)(c + 8) = c1_0;
  *(polydl_gemm1_vector8 *)(c + 112) = c0_1;
  *(polydl_gemm1_vector8 *)(c + 120) = c1_1;
  *(polydl_gemm1_vector8 *)(c + 224) = c0_2;
  *(polydl_gemm1_vector8 *)(c + 232) = c1_2;
  *(polydl_gemm1_vector8 *)(c + 336) = c0_3;
  *(polydl_gemm1_vector8 *)(c + 344) = c1_3;
}
static void polydl_gemm1_run_000(const float *a, const float *b, float *c, long count)
{
  for (int i = 0; i < 10; ++i) {
    polydl_gemm1_block0_3x4(a + 0, b + polydl_gemm1_starts0[i], c + 0 + polydl_gemm1_starts1[i], 64, count);
    polydl_gemm1_block0_3x4(a + 24, b + polydl_gemm1_starts0[i], c + 24 + polydl_gemm1_starts1[i], 64, count);
    polydl_gemm1_block0_3x4(a + 48, b + polydl_gemm1_starts0[i], c + 48 + polydl_gemm1_starts1[i], 64, count);
    polydl_gemm1_block0_3x4(a + 72, b + polydl_gemm1_starts0[i], c + 72 + polydl_gemm1_starts1[i], 64, count);
    polydl_gemm1_block1_2x4(a + 96, b + polydl_gemm1_starts0[i], c + 96 + polydl_gemm1_starts1[i], 64, count);
  }
}
static void polydl_gemm1_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  (void)last_m;
  (void)last_n;
  (void)last_k;
  (void)first;
  if (1)
    polydl_gemm1_run_000(a, b, c, count);
}

/* A linear layer with sums in a local scalar, and an output that is added to: a tile of sums is all that is kept. */
#define M 80
#define N 224
#define K 64
#define contraction polydl_tuned_contraction
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void contraction(float Y[M][N], const float A[M][K], const float B[K][N], const float bias[N])
{
  if (polydl_reserve()) {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    float (*sum_of)[112] = polydl_kept(0);
    #pragma omp parallel for
    for (int i_t1 = 0; i_t1 <= 1; ++i_t1) {
      for (int j_t1 = 0; j_t1 <= 1; ++j_t1) {
        for (int i = 40 * i_t1; i <= ((40 * i_t1) + 39); ++i) {
          #pragma omp simd simdlen(8)
          for (int j = 112 * j_t1; j <= ((112 * j_t1) + 111); ++j) {
            sum_of[i][j - 112 * j_t1] = bias[j];
          }
        }
        polydl_gemm1_run(&B[0][112 * j_t1], &A[40 * i_t1][0], &sum_of[40 * i_t1][0], 0, 0, 0, 1, 0);
        for (int i = 40 * i_t1; i <= ((40 * i_t1) + 39); ++i) {
          #pragma omp simd simdlen(8)
          for (int j = 112 * j_t1; j <= ((112 * j_t1) + 111); ++j) {
            Y[i][j] += (sum_of[i][j - 112 * j_t1] > 0.0f) ? sum_of[i][j - 112 * j_t1] : 0.0f;
          }
        }
      }
    }
    polydl_end(&polydl_call);
    polydl_leave();
  } else {
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      float sum = bias[j];
      for (int k = 0; k < K; ++k)
        sum += A[i][k] * B[k][j];
      Y[i][j] += sum > 0.0f ? sum : 0.0f;
    }
  }
}
#undef contraction

/* for all processors */
void contraction(float Y[M][N], const float A[M][K], const float B[K][N], const float bias[N])
{
  if (polydl_fits()) {
    polydl_tuned_contraction(Y, A, B, bias);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      float sum = bias[j];
      for (int k = 0; k < K; ++k)
        sum += A[i][k] * B[k][j];
      Y[i][j] += sum > 0.0f ? sum : 0.0f;
    }
#endif
}
void contraction_release(void);
void contraction_release(void)
{
  if (polydl_enter()) {
    polydl_drop();
    polydl_leave();
  }
}
const char *contraction_missing(void);
const char *contraction_missing(void)
{
  return polydl_missing();
}
/* for this one */
