#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
static inline int polydl_min(int a, int b) { return a < b ? a : b; }
/* team */
static struct polydl_team polydl_team;
static const long polydl_gemm1_offsets_a[1] = {0};
static const long polydl_gemm1_offsets_b[1] = {0};
typedef float polydl_gemm1_vector8 __attribute__((vector_size(32), aligned(sizeof(float)), may_alias));
static const long polydl_gemm1_starts0[4] = {0, 256, 512, 768};
static const long polydl_gemm1_starts1[4] = {0, 192, 384, 576};
static const long polydl_gemm1_starts2[2] = {384, 704};
static const long polydl_gemm1_starts3[2] = {288, 528};
static inline void polydl_gemm1_block0_3x4(const float *a, const float *b, float *c, long k, long count)
{
  polydl_gemm1_vector8 c0_0 = *(const polydl_gemm1_vector8 *)(c + 0);
  polydl_gemm1_vector8 c1_0 = *(const polydl_gemm1_vector8 *)(c + 8);
  polydl_gemm1_vector8 c2_0 = *(const polydl_gemm1_vector8 *)(c + 16);
  polydl_gemm1_vector8 c0_1 = *(const polydl_gemm1_vector8 *)(c + 48);
  polydl_gemm1_vector8 c1_1 = *(const polydl_gemm1_vector8 *)(c + 56);
  polydl_gemm1_vector8 c2_1 = *(const polydl_gemm1_vector8 *)(c + 64);
  polydl_gemm1_vector8 c0_2 = *(const polydl_gemm1_vector8 *)(c + 96);
  polydl_gemm1_vector8 c1_2 = *(const polydl_gemm1_vector8 *)(c + 104);
  polydl_gemm1_vector8 c2_2 = *(const polydl_gemm1_vector8 *)(c + 112);
  polydl_gemm1_vector8 c0_3 = *(const polydl_gemm1_vector8 *)(c + 144);
  polydl_gemm1_vector8 c1_3 = *(const polydl_gemm1_vector8 *)(c + 152);
  polydl_gemm1_vector8 c2_3 = *(const polydl_gemm1_vector8 *)(c + 160);
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
  *(polydl_gemm1_vector8 *)(c + 48) = c0_1;
  *(polydl_gemm1_vector8 *)(c + 56) = c1_1;
  *(polydl_gemm1_vector8 *)(c + 64) = c2_1;
  *(polydl_gemm1_vector8 *)(c + 96) = c0_2;
  *(polydl_gemm1_vector8 *)(c + 104) = c1_2;
  *(polydl_gemm1_vector8 *)(c + 112) = c2_2;
  *(polydl_gemm1_vector8 *)(c + 144) = c0_3;
  *(polydl_gemm1_vector8 *)(c + 152) = c1_3;
  *(polydl_gemm1_vector8 *)(c + 160) = c2_3;
}
static inline void polydl_gemm1_block1_2x6(const float *a, const float *b, float *c, long k, long count)
{
  polydl_gemm1_vector8 c0_0 = *(const polydl_gemm1_vector8 *)(c + 0);
  polydl_gemm1_vector8 c1_0 = *(const polydl_gemm1_vector8 *)(c + 8);
  polydl_gemm1_vector8 c0_1 = *(const polydl_gemm1_vector8 *)(c + 48);
  polydl_gemm1_vector8 c1_1 = *(const polydl_gemm1_vector8 *)(c + 56);
  polydl_gemm1_vector8 c0_2 = *(const polydl_gemm1_vector8 *)(c + 96);
  polydl_gemm1_vector8 c1_2 = *(const polydl_gemm1_vector8 *)(c + 104);
  polydl_gemm1_vector8 c0_3 = *(const polydl_gemm1_vector8 *)(c + 144);
  polydl_gemm1_vector8 c1_3 = *(const polydl_gemm1_vector8 *)(c + 152);
  polydl_gemm1_vector8 c0_4 = *(const polydl_gemm1_vector8 *)(c + 192);
  polydl_gemm1_vector8 c1_4 = *(const polydl_gemm1_vector8 *)(c + 200);
  polydl_gemm1_vector8 c0_5 = *(const polydl_gemm1_vector8 *)(c + 240);
  polydl_gemm1_vector8 c1_5 = *(const polydl_gemm1_vector8 *)(c + 248);
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
      const float b4 = bl[256]; c0_4 += a0 * b4; c1_4 += a1 * b4;
      const float b5 = bl[320]; c0_5 += a0 * b5; c1_5 += a1 * b5;
    }
  }
  *(polydl_gemm1_vector8 *)(c + 0) = c0_0;
  *(polydl_gemm1_vector8 *)(c + 8) = c1_0;
  *(polydl_gemm1_vector8 *)(c + 48) = c0_1;
  *(polydl_gemm1_vector8 *)(c + 56) = c1_1;
  *(polydl_gemm1_vector8 *)(c + 96) = c0_2;
  *(polydl_gemm1_vector8 *)(c + 104) = c1_2;
  *(polydl_gemm1_vector8 *)(c + 144) = c0_3;
  *(polydl_gemm1_vector8 *)(c + 152) = c1_3;
  *(polydl_gemm1_vector8 *)(c + 192) = c0_4;
  *(polydl_gemm1_vector8 *)(c + 200) = c1_4;
  *(polydl_gemm1_vector8 *)(c + 240) = c0_5;
  *(polydl_gemm1_vector8 *)(c + 248) = c1_5;
}
static inline void polydl_gemm1_block2_2x5(const float *a, const float *b, float *c, long k, long count)
{
  polydl_gemm1_vector8 c0_0 = *(const polydl_gemm1_vector8 *)(c + 0);
  polydl_gemm1_vector8 c1_0 = *(const polydl_gemm1_vector8 *)(c + 8);
  polydl_gemm1_vector8 c0_1 = *(const polydl_gemm1_vector8 *)(c + 48);
  polydl_gemm1_vector8 c1_1 = *(const polydl_gemm1_vector8 *)(c + 56);
  polydl_gemm1_vector8 c0_2 = *(const polydl_gemm1_vector8 *)(c + 96);
  polydl_gemm1_vector8 c1_2 = *(const polydl_gemm1_vector8 *)(c + 104);
  polydl_gemm1_vector8 c0_3 = *(const polydl_gemm1_vector8 *)(c + 144);
  polydl_gemm1_vector8 c1_3 = *(const polydl_gemm1_vector8 *)(c + 152);
  polydl_gemm1_vector8 c0_4 = *(const polydl_gemm1_vector8 *)(c + 192);
  polydl_gemm1_vector8 c1_4 = *(const polydl_gemm1_vector8 *)(c + 200);
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
      const float b4 = bl[256]; c0_4 += a0 * b4; c1_4 += a1 * b4;
    }
  }
  *(polydl_gemm1_vector8 *)(c + 0) = c0_0;
  *(polydl_gemm1_vector8 *)(c + 8) = c1_0;
  *(polydl_gemm1_vector8 *)(c + 48) = c0_1;
  *(polydl_gemm1_vector8 *)(c + 56) = c1_1;
  *(polydl_gemm1_vector8 *)(c + 96) = c0_2;
  *(polydl_gemm1_vector8 *)(c + 104) = c1_2;
  *(polydl_gemm1_vector8 *)(c + 144) = c0_3;
  *(polydl_gemm1_vector8 *)(c + 152) = c1_3;
  *(polydl_gemm1_vector8 *)(c + 192) = c0_4;
  *(polydl_gemm1_vector8 *)(c + 200) = c1_4;
}
static void polydl_gemm1_run_000(const float *a, const float *b, float *c, long count)
{
  for (int i = 0; i < 4; ++i) {
    polydl_gemm1_block0_3x4(a + 0, b + polydl_gemm1_starts0[i], c + 0 + polydl_gemm1_starts1[i], 64, count);
    polydl_gemm1_block0_3x4(a + 24, b + polydl_gemm1_starts0[i], c + 24 + polydl_gemm1_starts1[i], 64, count);
  }
}
static void polydl_gemm1_run_100(const float *a, const float *b, float *c, long count)
{
  polydl_gemm1_block1_2x6(a + 0, b + 0, c + 0 + 0, 64, count);
  polydl_gemm1_block1_2x6(a + 16, b + 0, c + 16 + 0, 64, count);
  for (int i = 0; i < 2; ++i) {
    polydl_gemm1_block2_2x5(a + 0, b + polydl_gemm1_starts2[i], c + 0 + polydl_gemm1_starts3[i], 64, count);
    polydl_gemm1_block2_2x5(a + 16, b + polydl_gemm1_starts2[i], c + 16 + polydl_gemm1_starts3[i], 64, count);
  }
}
static void polydl_gemm1_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  (void)last_n;
  (void)last_k;
  (void)first;
  if (!last_m)
    polydl_gemm1_run_000(a, b, c, count);
  if (last_m)
    polydl_gemm1_run_100(a, b, c, count);
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
  {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    #pragma omp parallel for collapse(2)
    for (int i_t1 = 0; i_t1 <= 4; ++i_t1) {
      for (int j_t1 = 0; j_t1 <= 4; ++j_t1) {
        _Alignas(64) float sum_of[16][48];
        for (int i = 16 * i_t1; i <= ((16 * i_t1) + 15); ++i) {
          #pragma omp simd simdlen(8)
          for (int j = 48 * j_t1; j <= polydl_min(223, ((48 * j_t1) + 47)); ++j) {
            sum_of[i - 16 * i_t1][j - 48 * j_t1] = bias[j];
          }
        }
        polydl_gemm1_run(&B[0][48 * j_t1], &A[16 * i_t1][0], &sum_of[0][0], j_t1 == 4, 0, 0, 1, 0);
        for (int i = 16 * i_t1; i <= ((16 * i_t1) + 15); ++i) {
          #pragma omp simd simdlen(8)
          for (int j = 48 * j_t1; j <= polydl_min(223, ((48 * j_t1) + 47)); ++j) {
            Y[i][j] += (sum_of[i - 16 * i_t1][j - 48 * j_t1] > 0.0f) ? sum_of[i - 16 * i_t1][j - 48 * j_t1] : 0.0f;
          }
        }
      }
    }
    polydl_end(&polydl_call);
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
}
const char *contraction_missing(void);
const char *contraction_missing(void)
{
  return polydl_missing();
}
/* for this one */
