#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
#include <math.h>
struct polydl_gemm5_operands { const int *x0; const int *x1; unsigned char *x2; const float *x3; };
static inline __attribute__((always_inline, unused)) void polydl_gemm5_finished(const int *sums, const int *x0, const int *x1, unsigned char *x2, const float *x3, long rows)
{
  #pragma omp simd simdlen(32)
  for (long i = 0; i < rows; ++i) {
    int polydl_element = sums[i];
    polydl_element += x1[i];
    const float polydl_value0 = (float)(rintf((float)polydl_element * x3[i]));
    const float polydl_value1 = (float)((polydl_value0 < 0.0f) ? 0.0f : polydl_value0);
    x2[i] = (unsigned char)((float)((polydl_value1 > 255.0f) ? 255.0f : polydl_value1));
  }
}
static inline __attribute__((always_inline, unused)) void polydl_gemm5_after_column(const struct polydl_gemm5_operands *operands, const int *sums, long first, long row, long rows)
{
  const long j = first;
  const int *x0 = operands->x0 + 16 * j + row;
  const int *x1 = operands->x1 + row;
  unsigned char *x2 = operands->x2 + 96 * j + row;
  const float *x3 = operands->x3 + row;
  polydl_gemm5_finished(sums, x0, x1, x2, x3, rows);
}
static inline void polydl_gemm5_after(const struct polydl_gemm5_operands *operands, const int *sums, long apart, long first, long columns, long row, long rows)
{
  while (columns > 0) {
    const long j = first;
    const long length = columns;
    const int *x0 = operands->x0 + 16 * j + row;
    const int *x1 = operands->x1 + row;
    unsigned char *x2 = operands->x2 + 96 * j + row;
    const float *x3 = operands->x3 + row;
    for (long column = 0; column < length; ++column, sums += apart, x0 += 16, x2 += 96)
      polydl_gemm5_finished(sums, x0, x1, x2, x3, rows);
    first += length;
    columns -= length;
  }
}
static const long polydl_gemm5_offsets_a[18] = {0, 128, 256, 384, 512, 640, 768, 896, 1024, 1152, 1280, 1408, 1536, 1664, 1792, 1920, 0, 128};
static const long polydl_gemm5_offsets_b[16] = {0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60};
typedef int polydl_gemm5_vector8 __attribute__((vector_size(32), aligned(sizeof(int)), may_alias));
typedef int polydl_gemm5_groups8 __attribute__((vector_size(32), aligned(1), may_alias));
typedef int polydl_gemm5_group __attribute__((aligned(1), may_alias));
#if (defined __AVX512VNNI__ && defined __AVX512VL__) || (defined __AVXVNNI__)
#include <immintrin.h>
#endif
static inline polydl_gemm5_vector8 polydl_gemm5_dot(polydl_gemm5_vector8 sum, polydl_gemm5_groups8 a, polydl_gemm5_groups8 b)
{
#if defined __AVX512VNNI__ && defined __AVX512VL__
  return (polydl_gemm5_vector8)_mm256_dpbusd_epi32((__m256i)sum, (__m256i)b, (__m256i)a);
#elif defined __AVXVNNI__
  return (polydl_gemm5_vector8)_mm256_dpbusd_avx_epi32((__m256i)sum, (__m256i)b, (__m256i)a);
#else
  typedef unsigned int polydl_gemm5_bits8 __attribute__((vector_size(32)));
  for (int byte = 0; byte < 4; ++byte)
    sum += (polydl_gemm5_vector8)(((polydl_gemm5_bits8)b >> 8 * byte) & 255) *
           ((polydl_gemm5_vector8)((polydl_gemm5_bits8)a << (24 - 8 * byte)) >> 24);
  return sum;
#endif
}
static const long polydl_gemm5_starts0[8] = {0, 384, 768, 1152, 1536, 1920, 2304, 2688};
static const long polydl_gemm5_starts1[8] = {0, 96, 192, 288, 384, 480, 576, 672};
static const long polydl_gemm5_starts2[8] = {0, 6, 12, 18, 24, 30, 36, 42};
static const long polydl_gemm5_starts3[4] = {0, 384, 768, 1152};
static const long polydl_gemm5_starts4[4] = {0, 96, 192, 288};
static const long polydl_gemm5_starts5[4] = {0, 6, 12, 18};
static inline void polydl_gemm5_block0_2x6(const signed char *a, const unsigned char *b, int *c, long k, long count, int first, int last, const struct polydl_gemm5_operands *operands, long column, long row)
{
  polydl_gemm5_vector8 c0_0 = first ? (polydl_gemm5_vector8){0} : *(polydl_gemm5_vector8 *)(c + 0);
  polydl_gemm5_vector8 c1_0 = first ? (polydl_gemm5_vector8){0} : *(polydl_gemm5_vector8 *)(c + 8);
  polydl_gemm5_vector8 c0_1 = first ? (polydl_gemm5_vector8){0} : *(polydl_gemm5_vector8 *)(c + 16);
  polydl_gemm5_vector8 c1_1 = first ? (polydl_gemm5_vector8){0} : *(polydl_gemm5_vector8 *)(c + 24);
  polydl_gemm5_vector8 c0_2 = first ? (polydl_gemm5_vector8){0} : *(polydl_gemm5_vector8 *)(c + 32);
  polydl_gemm5_vector8 c1_2 = first ? (polydl_gemm5_vector8){0} : *(polydl_gemm5_vector8 *)(c + 40);
  polydl_gemm5_vector8 c0_3 = first ? (polydl_gemm5_vector8){0} : *(polydl_gemm5_vector8 *)(c + 48);
  polydl_gemm5_vector8 c1_3 = first ? (polydl_gemm5_vector8){0} : *(polydl_gemm5_vector8 *)(c + 56);
  polydl_gemm5_vector8 c0_4 = first ? (polydl_gemm5_vector8){0} : *(polydl_gemm5_vector8 *)(c + 64);
  polydl_gemm5_vector8 c1_4 = first ? (polydl_gemm5_vector8){0} : *(polydl_gemm5_vector8 *)(c + 72);
  polydl_gemm5_vector8 c0_5 = first ? (polydl_gemm5_vector8){0} : *(polydl_gemm5_vector8 *)(c + 80);
  polydl_gemm5_vector8 c1_5 = first ? (polydl_gemm5_vector8){0} : *(polydl_gemm5_vector8 *)(c + 88);
  for (long r = 0; r < count; r += 16) {
    const signed char *ar = a + polydl_gemm5_offsets_a[r];
    const unsigned char *br = b + polydl_gemm5_offsets_b[r];
    (void)k;
    for (long l = 0; l < 16; ++l) {
      const signed char *al = ar + l * 128;
      const unsigned char *bl = br + l * 4;
      __builtin_prefetch(al + (1024));
      __builtin_prefetch(al + (1056));
      const polydl_gemm5_groups8 a0 = *(const polydl_gemm5_groups8 *)(al + 0);
      const polydl_gemm5_groups8 a1 = *(const polydl_gemm5_groups8 *)(al + 32);
      const polydl_gemm5_groups8 b0 = *(const polydl_gemm5_group *)(bl + 0) + (polydl_gemm5_groups8){0};
      c0_0 = polydl_gemm5_dot(c0_0, a0, b0);
      c1_0 = polydl_gemm5_dot(c1_0, a1, b0);
      const polydl_gemm5_groups8 b1 = *(const polydl_gemm5_group *)(bl + 64) + (polydl_gemm5_groups8){0};
      c0_1 = polydl_gemm5_dot(c0_1, a0, b1);
      c1_1 = polydl_gemm5_dot(c1_1, a1, b1);
      const polydl_gemm5_groups8 b2 = *(const polydl_gemm5_group *)(bl + 128) + (polydl_gemm5_groups8){0};
      c0_2 = polydl_gemm5_dot(c0_2, a0, b2);
      c1_2 = polydl_gemm5_dot(c1_2, a1, b2);
      const polydl_gemm5_groups8 b3 = *(const polydl_gemm5_group *)(bl + 192) + (polydl_gemm5_groups8){0};
      c0_3 = polydl_gemm5_dot(c0_3, a0, b3);
      c1_3 = polydl_gemm5_dot(c1_3, a1, b3);
      const polydl_gemm5_groups8 b4 = *(const polydl_gemm5_group *)(bl + 256) + (polydl_gemm5_groups8){0};
      c0_4 = polydl_gemm5_dot(c0_4, a0, b4);
      c1_4 = polydl_gemm5_dot(c1_4, a1, b4);
      const polydl_gemm5_groups8 b5 = *(const polydl_gemm5_group *)(bl + 320) + (polydl_gemm5_groups8){0};
      c0_5 = polydl_gemm5_dot(c0_5, a0, b5);
      c1_5 = polydl_gemm5_dot(c1_5, a1, b5);
    }
  }
  if (last) {
    { int sums[16] __attribute__((aligned(64)));
      *(polydl_gemm5_vector8 *)sums = c0_0;
      *(polydl_gemm5_vector8 *)(sums + 8) = c1_0;
      polydl_gemm5_after_column(operands, sums, column + 0, row + 0, 16); }
    { int sums[16] __attribute__((aligned(64)));
      *(polydl_gemm5_vector8 *)sums = c0_1;
      *(polydl_gemm5_vector8 *)(sums + 8) = c1_1;
      polydl_gemm5_after_column(operands, sums, column + 1, row + 0, 16); }
    { int sums[16] __attribute__((aligned(64)));
      *(polydl_gemm5_vector8 *)sums = c0_2;
      *(polydl_gemm5_vector8 *)(sums + 8) = c1_2;
      polydl_gemm5_after_column(operands, sums, column + 2, row + 0, 16); }
    { int sums[16] __attribute__((aligned(64)));
      *(polydl_gemm5_vector8 *)sums = c0_3;
      *(polydl_gemm5_vector8 *)(sums + 8) = c1_3;
      polydl_gemm5_after_column(operands, sums, column + 3, row + 0, 16); }
    { int sums[16] __attribute__((aligned(64)));
      *(polydl_gemm5_vector8 *)sums = c0_4;
      *(polydl_gemm5_vector8 *)(sums + 8) = c1_4;
      polydl_gemm5_after_column(operands, sums, column + 4, row + 0, 16); }
    { int sums[16] __attribute__((aligned(64)));
      *(polydl_gemm5_vector8 *)sums = c0_5;
      *(polydl_gemm5_vector8 *)(sums + 8) = c1_5;
      polydl_gemm5_after_column(operands, sums, column + 5, row + 0, 16); }
    return;
  }
  *(polydl_gemm5_vector8 *)(c + 0) = c0_0;
  *(polydl_gemm5_vector8 *)(c + 8) = c1_0;
  *(polydl_gemm5_vector8 *)(c + 16) = c0_1;
  *(polydl_gemm5_vector8 *)(c + 24) = c1_1;
  *(polydl_gemm5_vector8 *)(c + 32) = c0_2;
  *(polydl_gemm5_vector8 *)(c + 40) = c1_2;
  *(polydl_gemm5_vector8 *)(c + 48) = c0_3;
  *(polydl_gemm5_vector8 *)(c + 56) = c1_3;
  *(polydl_gemm5_vector8 *)(c + 64) = c0_4;
  *(polydl_gemm5_vector8 *)(c + 72) = c1_4;
  *(polydl_gemm5_vector8 *)(c + 80) = c0_5;
  *(polydl_gemm5_vector8 *)(c + 88) = c1_5;
}
static void polydl_gemm5_run_000(const signed char *a, const unsigned char *b, int *c, long count, int first, int last, const struct polydl_gemm5_operands *operands)
{
  for (int i = 0; i < 8; ++i) {
    polydl_gemm5_block0_2x6(a + 0, b + polydl_gemm5_starts0[i], c + 0 + polydl_gemm5_starts1[i], 1, count, first, last, operands, polydl_gemm5_starts2[i], 0);
  }
}
static void polydl_gemm5_run_010(const signed char *a, const unsigned char *b, int *c, long count, int first, int last, const struct polydl_gemm5_operands *operands)
{
  for (int i = 0; i < 4; ++i) {
    polydl_gemm5_block0_2x6(a + 0, b + polydl_gemm5_starts3[i], c + 0 + polydl_gemm5_starts4[i], 1, count, first, last, operands, polydl_gemm5_starts5[i], 0);
  }
}
static void polydl_gemm5_run(const signed char *a, const unsigned char *b, int *c, int last_m, int last_n, int last_k, long count, int first, int last, const struct polydl_gemm5_operands *operands)
{
  (void)last_m;
  (void)last_k;
  if (!last_n)
    polydl_gemm5_run_000(a, b, c, count, first, last, operands);
  if (last_n)
    polydl_gemm5_run_010(a, b, c, count, first, last, operands);
}

/* A linear layer of quantized numbers: the sums begin with a bias, are scaled, and leave as bytes. */
#include <math.h>

enum { M = 72, N = 96, K = 64 };
#define quantized_layer polydl_tuned_quantized_layer
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void quantized_layer(unsigned char Y[M][N], const unsigned char A[M][K], const signed char B[K][N], const int bias[N],
                     const float scale[N], int zero)
{
  {
    int sum_of[48][16] __attribute__((aligned(64)));
    int B_sums[1];
    int B_corrections[96] __attribute__((aligned(64)));
    signed char B_panels[3][16][32][4] __attribute__((aligned(64)));
    for (int B_0 = 0; B_0 <= 2; ++B_0) {
      for (int B_1 = 0; B_1 <= 15; ++B_1) {
        for (int B_2 = 0; B_2 <= 31; ++B_2) {
          #pragma omp simd
          for (int B_3 = 0; B_3 <= 3; ++B_3) {
            B_panels[B_0][B_1][B_2][B_3] = B[4 * (long)B_1 + (long)B_3][32 * (long)B_0 + (long)B_2];
          }
        }
      }
    }
    for (int j = 0; j <= 95; ++j) {
      B_sums[0] = 0;
      {
        int polydl_sum0 = 0;
        #pragma omp simd simdlen(32) reduction(+: polydl_sum0)
        for (int k = 0; k <= 63; ++k) {
          polydl_sum0 += (int)(B[k][j]);
        }
        B_sums[0] += polydl_sum0;
      }
      B_corrections[j] = (int)(bias[j]) - (zero * B_sums[0]);
    }
    for (int j_t1 = 0; j_t1 <= 1; ++j_t1) {
      for (int j_block = 0; j_block <= 2; ++j_block) {
        for (int i_t1 = 0; i_t1 <= 1; ++i_t1) {
          polydl_gemm5_run(&B_panels[j_block][0][16 * (long)j_t1][0], &A[48 * (long)i_t1][0], &sum_of[0][0], 0, i_t1 == 1, 0, 16, 1, 1, &(struct polydl_gemm5_operands){&sum_of[0][0], &B_corrections[32 * (long)j_block + (long)(16 * j_t1)], &Y[48 * (long)i_t1][32 * (long)j_block + (long)(16 * j_t1)], &scale[32 * (long)j_block + (long)(16 * j_t1)]});
        }
      }
    }
  }
}
#undef quantized_layer

/* for all processors */
void quantized_layer(unsigned char Y[M][N], const unsigned char A[M][K], const signed char B[K][N], const int bias[N],
                     const float scale[N], int zero)
{
  if (polydl_fits()) {
    polydl_tuned_quantized_layer(Y, A, B, bias, scale, zero);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      int sum = bias[j];
      for (int k = 0; k < K; ++k)
        sum += ((int)A[i][k] - zero) * (int)B[k][j];
      float y = rintf((float)sum * scale[j]);
      if (y < 0.0f)
        y = 0.0f;
      if (y > 255.0f)
        y = 255.0f;
      Y[i][j] = (unsigned char)y;
    }
#endif
}
void quantized_layer_release(void);
void quantized_layer_release(void)
{
}
const char *quantized_layer_missing(void);
const char *quantized_layer_missing(void)
{
  return polydl_missing();
}
/* for this one */
