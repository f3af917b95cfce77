#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
/* team */
static struct polydl_team polydl_team;
typedef unsigned short bfloat16;
static const long polydl_gemm1_offsets_a[1] = {0};
static const long polydl_gemm1_offsets_b[1] = {0};
typedef float polydl_gemm1_vector16 __attribute__((vector_size(64), aligned(sizeof(float)), may_alias));
typedef unsigned int polydl_gemm1_bits16 __attribute__((vector_size(64)));
static inline polydl_gemm1_vector16 polydl_gemm1_widened16(const bfloat16 *from)
{
  typedef bfloat16 narrow __attribute__((vector_size(32), aligned(2), may_alias));
#ifdef __AVX512F__
  polydl_gemm1_bits16 wide;
  __asm__("vpmovzxwd %1, %0" : "=v"(wide) : "m"(*(const narrow *)from));
#else
  const polydl_gemm1_bits16 wide = __builtin_convertvector(*(const narrow *)from, polydl_gemm1_bits16);
#endif
  return (polydl_gemm1_vector16)(wide << 16);
}
static const long polydl_gemm1_starts0[4] = {0, 384, 768, 1152};
static const long polydl_gemm1_starts1[4] = {0, 320, 640, 960};
static inline void polydl_gemm1_block0_5x4(const bfloat16 *a, const bfloat16 *b, float *c, long k, long count)
{
  polydl_gemm1_vector16 c0_0 = *(const polydl_gemm1_vector16 *)(c + 0);
  polydl_gemm1_vector16 c1_0 = *(const polydl_gemm1_vector16 *)(c + 16);
  polydl_gemm1_vector16 c2_0 = *(const polydl_gemm1_vector16 *)(c + 32);
  polydl_gemm1_vector16 c3_0 = *(const polydl_gemm1_vector16 *)(c + 48);
  polydl_gemm1_vector16 c4_0 = *(const polydl_gemm1_vector16 *)(c + 64);
  polydl_gemm1_vector16 c0_1 = *(const polydl_gemm1_vector16 *)(c + 80);
  polydl_gemm1_vector16 c1_1 = *(const polydl_gemm1_vector16 *)(c + 96);
  polydl_gemm1_vector16 c2_1 = *(const polydl_gemm1_vector16 *)(c + 112);
  polydl_gemm1_vector16 c3_1 = *(const polydl_gemm1_vector16 *)(c + 128);
  polydl_gemm1_vector16 c4_1 = *(const polydl_gemm1_vector16 *)(c + 144);
  polydl_gemm1_vector16 c0_2 = *(const polydl_gemm1_vector16 *)(c + 160);
  polydl_gemm1_vector16 c1_2 = *(const polydl_gemm1_vector16 *)(c + 176);
  polydl_gemm1_vector16 c2_2 = *(const polydl_gemm1_vector16 *)(c + 192);
  polydl_gemm1_vector16 c3_2 = *(const polydl_gemm1_vector16 *)(c + 208);
  polydl_gemm1_vector16 c4_2 = *(const polydl_gemm1_vector16 *)(c + 224);
  polydl_gemm1_vector16 c0_3 = *(const polydl_gemm1_vector16 *)(c + 240);
  polydl_gemm1_vector16 c1_3 = *(const polydl_gemm1_vector16 *)(c + 256);
  polydl_gemm1_vector16 c2_3 = *(const polydl_gemm1_vector16 *)(c + 272);
  polydl_gemm1_vector16 c3_3 = *(const polydl_gemm1_vector16 *)(c + 288);
  polydl_gemm1_vector16 c4_3 = *(const polydl_gemm1_vector16 *)(c + 304);
  for (long r = 0; r < count; ++r) {
    const bfloat16 *ar = a + polydl_gemm1_offsets_a[r];
    const bfloat16 *br = b + polydl_gemm1_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 80 + 0);
      const polydl_gemm1_vector16 a0 = polydl_gemm1_widened16(ar + l * 80 + 0);
      __builtin_prefetch(ar + (l + 8) * 80 + 16);
      const polydl_gemm1_vector16 a1 = polydl_gemm1_widened16(ar + l * 80 + 16);
      __builtin_prefetch(ar + (l + 8) * 80 + 32);
      const polydl_gemm1_vector16 a2 = polydl_gemm1_widened16(ar + l * 80 + 32);
      __builtin_prefetch(ar + (l + 8) * 80 + 48);
      const polydl_gemm1_vector16 a3 = polydl_gemm1_widened16(ar + l * 80 + 48);
      __builtin_prefetch(ar + (l + 8) * 80 + 64);
      const polydl_gemm1_vector16 a4 = polydl_gemm1_widened16(ar + l * 80 + 64);
      const bfloat16 *bl = br + l * 1;
      const polydl_gemm1_vector16 b0 = (polydl_gemm1_vector16)((polydl_gemm1_bits16){0} + ((unsigned int)bl[0] << 16)); c0_0 += a0 * b0; c1_0 += a1 * b0; c2_0 += a2 * b0; c3_0 += a3 * b0; c4_0 += a4 * b0;
      const polydl_gemm1_vector16 b1 = (polydl_gemm1_vector16)((polydl_gemm1_bits16){0} + ((unsigned int)bl[96] << 16)); c0_1 += a0 * b1; c1_1 += a1 * b1; c2_1 += a2 * b1; c3_1 += a3 * b1; c4_1 += a4 * b1;
      const polydl_gemm1_vector16 b2 = (polydl_gemm1_vector16)((polydl_gemm1_bits16){0} + ((unsigned int)bl[192] << 16)); c0_2 += a0 * b2; c1_2 += a1 * b2; c2_2 += a2 * b2; c3_2 += a3 * b2; c4_2 += a4 * b2;
      const polydl_gemm1_vector16 b3 = (polydl_gemm1_vector16)((polydl_gemm1_bits16){0} + ((unsigned int)bl[288] << 16)); c0_3 += a0 * b3; c1_3 += a1 * b3; c2_3 += a2 * b3; c3_3 += a3 * b3; c4_3 += a4 * b3;
    }
  }
  *(polydl_gemm1_vector16 *)(c + 0) = c0_0;
  *(polydl_gemm1_vector16 *)(c + 16) = c1_0;
  *(polydl_gemm1_vector16 *)(c + 32) = c2_0;
  *(polydl_gemm1_vector16 *)(c + 48) = c3_0;
  *(polydl_gemm1_vector16 *)(c + 64) = c4_0;
  *(polydl_gemm1_vector16 *)(c + 80) = c0_1;
  *(polydl_gemm1_vector16 *)(c + 96) = c1_1;
  *(polydl_gemm1_vector16 *)(c + 112) = c2_1;
  *(polydl_gemm1_vector16 *)(c + 128) = c3_1;
  *(polydl_gemm1_vector16 *)(c + 144) = c4_1;
  *(polydl_gemm1_vector16 *)(c + 160) = c0_2;
  *(polydl_gemm1_vector16 *)(c + 176) = c1_2;
  *(polydl_gemm1_vector16 *)(c + 192) = c2_2;
  *(polydl_gemm1_vector16 *)(c + 208) = c3_2;
  *(polydl_gemm1_vector16 *)(c + 224) = c4_2;
  *(polydl_gemm1_vector16 *)(c + 240) = c0_3;
  *(polydl_gemm1_vector16 *)(c + 256) = c1_3;
  *(polydl_gemm1_vector16 *)(c + 272) = c2_3;
  *(polydl_gemm1_vector16 *)(c + 288) = c3_3;
  *(polydl_gemm1_vector16 *)(c + 304) = c4_3;
}
static void polydl_gemm1_run_000(const bfloat16 *a, const bfloat16 *b, float *c, long count)
{
  for (int i = 0; i < 4; ++i) {
    polydl_gemm1_block0_5x4(a + 0, b + polydl_gemm1_starts0[i], c + 0 + polydl_gemm1_starts1[i], 96, count);
  }
}
static void polydl_gemm1_run(const bfloat16 *a, const bfloat16 *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  (void)last_m;
  (void)last_n;
  (void)last_k;
  (void)first;
  if (1)
    polydl_gemm1_run_000(a, b, c, count);
}

/* for all processors */
/* A product of bfloat16s summed as float, then ReLU. */
/* bfloat16 in C: the upper half of a float. Loop nests compute with floats, and convert what they read and write. */
#ifndef POLYDL_BFLOAT16_H
#define POLYDL_BFLOAT16_H

typedef unsigned short bfloat16;

/* Not `inline`, or pet would look for loops in these functions. Compilers inline them all the same. */
#ifdef __GNUC__
#define POLYDL_BFLOAT16_FUNCTION __attribute__((unused)) static
#else
#define POLYDL_BFLOAT16_FUNCTION static
#endif

/* Exact. */
POLYDL_BFLOAT16_FUNCTION float bfloat16_to_float(bfloat16 x)
{
  union { unsigned int bits; float value; } wide;
  wide.bits = (unsigned int)x << 16;
  return wide.value;
}

/* The nearest bfloat16, the even one of two; what is not a number stays that. */
POLYDL_BFLOAT16_FUNCTION bfloat16 float_to_bfloat16(float x)
{
  union { float value; unsigned int bits; } wide;
  wide.value = x;
  return (bfloat16)(x == x ? (wide.bits + 0x7fffu + ((wide.bits >> 16) & 1u)) >> 16 : wide.bits >> 16 | 0x40u);
}

#endif

enum { M = 48, N = 80, K = 96 };
/* for this one */
#define matmul_bfloat16 polydl_tuned_matmul_bfloat16
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void matmul_bfloat16(float C[M][N], const bfloat16 A[M][K], const bfloat16 B[K][N])
{
  {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    #pragma omp parallel for
    for (int i = 0; i <= 47; ++i) {
      #pragma omp simd simdlen(16)
      for (int j = 0; j <= 79; ++j) {
        C[i][j] = 0;
      }
    }
    polydl_between();
    #pragma omp parallel for
    for (int i_t1 = 0; i_t1 <= 2; ++i_t1) {
      polydl_gemm1_run(&B[0][0], &A[16 * i_t1][0], &C[16 * i_t1][0], 0, 0, 0, 1, 0);
    }
    polydl_between();
    #pragma omp parallel for
    for (int i = 0; i <= 47; ++i) {
      #pragma omp simd simdlen(8)
      for (int j = 0; j <= 79; ++j) {
        C[i][j] = (C[i][j] > 0.0f) ? C[i][j] : 0.0f;
      }
    }
    polydl_end(&polydl_call);
  }
}
#undef matmul_bfloat16

/* for all processors */
void matmul_bfloat16(float C[M][N], const bfloat16 A[M][K], const bfloat16 B[K][N])
{
  if (polydl_fits()) {
    polydl_tuned_matmul_bfloat16(C, A, B);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j)
      C[i][j] = 0;
  for (int i = 0; i < M; ++i)
    for (int k = 0; k < K; ++k)
      for (int j = 0; j < N; ++j)
        C[i][j] += bfloat16_to_float(A[i][k]) * bfloat16_to_float(B[k][j]);
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j)
      C[i][j] = C[i][j] > 0.0f ? C[i][j] : 0.0f;
#endif
}
void matmul_bfloat16_release(void);
void matmul_bfloat16_release(void)
{
}
const char *matmul_bfloat16_missing(void);
const char *matmul_bfloat16_missing(void)
{
  return polydl_missing();
}
/* for this one */
