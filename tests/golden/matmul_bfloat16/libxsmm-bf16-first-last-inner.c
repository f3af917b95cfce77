#include <stddef.h>
#include <pthread.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
/* team */
static struct polydl_team polydl_team;
typedef unsigned short bfloat16;
typedef void (*polydl_gemm1_function)(
    const unsigned short *a, const unsigned short *b, float *c, ...);
polydl_gemm1_function libxsmm_bsmmdispatch(int m, int n, int k, const int *lda, const int *ldb, const int *ldc,
    const float *alpha, const float *beta, const int *flags, const int *prefetch);
static polydl_gemm1_function polydl_gemm1_kernel[2][2][2][2];
static const long polydl_gemm1_offsets_a[1] = {0};
static const long polydl_gemm1_offsets_b[1] = {0};
static void polydl_gemm1_loops(const bfloat16 *a, const bfloat16 *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  const long m = last_m ? 8 : 8, n = last_n ? 48 : 48, k = last_k ? 96 : 96;
  if (first)
    for (long j = 0; j < n; ++j)
      for (long i = 0; i < m; ++i)
        c[i + j * 80] = 0;
  for (long r = 0; r < count; ++r)
    for (long j = 0; j < n; ++j)
      for (long l = 0; l < k; ++l) {
        const bfloat16 *column = a + polydl_gemm1_offsets_a[r] + l * 80;
        const float factor = ((union { unsigned int bits; float value; }){(unsigned int)(b[polydl_gemm1_offsets_b[r] + j * 96 + l * 1]) << 16}).value;
        for (long i = 0; i < m; ++i)
          c[i + j * 80] += ((union { unsigned int bits; float value; }){(unsigned int)(column[1 * i]) << 16}).value * factor;
      }
}
static _Thread_local bfloat16 polydl_gemm1_groups[1][768] __attribute__((aligned(64)));
static const bfloat16 *polydl_gemm1_in_groups(const bfloat16 *a, long m, long k, long count)
{
  const int slot = 0;
  bfloat16 *restrict to = polydl_gemm1_groups[slot];
  for (long r = 0; r < count; ++r)
    for (long l = 0; l < k; l += 2, to += 2 * m) {
      const bfloat16 *from = a + polydl_gemm1_offsets_a[r] + l * 80;
      for (long i = 0; i < m; ++i) {
        to[2 * i + 0] = from[i + 0];
        to[2 * i + 1] = from[i + 80];
      }
    }
  return polydl_gemm1_groups[slot];
}
static inline void polydl_gemm1_run(const bfloat16 *a, const bfloat16 *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  const polydl_gemm1_function kernel = polydl_gemm1_kernel[first][last_m][last_n][last_k];
  if (kernel) {
    const bfloat16 *groups = polydl_gemm1_in_groups(a, last_m ? 8 : 8, last_k ? 96 : 96, count);
    kernel((const unsigned short *)groups, (const unsigned short *)b, c);
  } else
    polydl_gemm1_loops(a, b, c, last_m, last_n, last_k, count, first);
}
static pthread_once_t polydl_once = PTHREAD_ONCE_INIT;
static void polydl_setup(void)
{
  {
    const int lda = 8, ldb = 96, ldc = 80;
    const float alpha = 1, beta = 1;
    const int flags = 32768; /* A is in groups of k */
    polydl_gemm1_kernel[0][0][0][0] =
        libxsmm_bsmmdispatch(8, 48, 96, &lda, &ldb, &ldc, &alpha, &beta, &flags, NULL);
  }
  {
    const int lda = 8, ldb = 96, ldc = 80;
    const float alpha = 1, beta = 0;
    const int flags = 32768; /* A is in groups of k */
    polydl_gemm1_kernel[1][0][0][0] =
        libxsmm_bsmmdispatch(8, 48, 96, &lda, &ldb, &ldc, &alpha, &beta, &flags, NULL);
  }
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
    pthread_once(&polydl_once, polydl_setup);
    #pragma omp parallel for
    for (int j_t2 = 0; j_t2 <= 4; ++j_t2) {
      for (int j_t1 = 2 * j_t2; j_t1 <= ((2 * j_t2) + 1); ++j_t1) {
        polydl_gemm1_run(&B[0][8 * j_t1], &A[0][0], &C[0][8 * j_t1], 0, 0, 0, 1, 1);
        for (int i = 0; i <= 47; ++i) {
          #pragma omp simd simdlen(8)
          for (int j = 8 * j_t1; j <= ((8 * j_t1) + 7); ++j) {
            C[i][j] = (C[i][j] > 0.0f) ? C[i][j] : 0.0f;
          }
        }
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
