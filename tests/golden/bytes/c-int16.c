#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"

/* processor */
/* team */
static struct polydl_team polydl_team;
static const long polydl_gemm0_offsets_a[1] = {0};
static const long polydl_gemm0_offsets_b[1] = {0};
static const long polydl_gemm0_rows_b[1] = {0};
static const long polydl_gemm0_rows_c[1] = {0};
typedef int polydl_gemm0_vector __attribute__((vector_size(32), aligned(4), may_alias));
#ifdef __AVX2__
#include <immintrin.h>
#endif
static inline polydl_gemm0_vector polydl_gemm0_pairs(polydl_gemm0_vector sum, polydl_gemm0_vector a, polydl_gemm0_vector b)
{
#ifdef __AVX2__
  return sum + (polydl_gemm0_vector)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#else
  return sum + (a << 16 >> 16) * (b << 16 >> 16) + (a >> 16) * (b >> 16);
#endif
}
#define polydl_gemm0_PAIR(one, other) (int)((unsigned)(other) << 16 | ((unsigned)(one) & 65535))
static void polydl_gemm0_copy_a(const signed char *a, int *to, long rows, long there, long k)
{
  for (long l = 0; l < k; l += 2, to += rows) {
    const signed char *one = a + l * 96, *other = one + (l + 1 < k ? 96 : 0);
    const int mask = l + 1 < k ? -1 : 65535;
    for (long i = 0; i < there; ++i)
      to[i] = polydl_gemm0_PAIR(one[i], other[i]) & mask;
    for (long i = there; i < rows; ++i)
      to[i] = 0;
  }
}
static void polydl_gemm0_copy_b(const unsigned char *b, int *to, long columns, long k)
{
  for (long j = 0; j < columns; ++j, b += 128, to += (k + 1) / 2) {
    for (long l = 0; l < k / 2; ++l)
      to[l] = polydl_gemm0_PAIR(b[2 * l * 1], b[(2 * l + 1) * 1]);
    if (k % 2)
      to[k / 2] = polydl_gemm0_PAIR(b[(k - 1) * 1], 0);
  }
}
static void polydl_gemm0_block0_3x4(const int *a, const int *b, int *c, long steps, int first)
{
  polydl_gemm0_vector c0_0 = {0};
  polydl_gemm0_vector c0_1 = {0};
  polydl_gemm0_vector c0_2 = {0};
  polydl_gemm0_vector c0_3 = {0};
  polydl_gemm0_vector c1_0 = {0};
  polydl_gemm0_vector c1_1 = {0};
  polydl_gemm0_vector c1_2 = {0};
  polydl_gemm0_vector c1_3 = {0};
  polydl_gemm0_vector c2_0 = {0};
  polydl_gemm0_vector c2_1 = {0};
  polydl_gemm0_vector c2_2 = {0};
  polydl_gemm0_vector c2_3 = {0};
  if (!first) {
    c0_0 = *(const polydl_gemm0_vector *)(c + 0 + 0);
    c0_1 = *(const polydl_gemm0_vector *)(c + 0 + 96);
    c0_2 = *(const polydl_gemm0_vector *)(c + 0 + 192);
    c0_3 = *(const polydl_gemm0_vector *)(c + 0 + 288);
    c1_0 = *(const polydl_gemm0_vector *)(c + 8 + 0);
    c1_1 = *(const polydl_gemm0_vector *)(c + 8 + 96);
    c1_2 = *(const polydl_gemm0_vector *)(c + 8 + 192);
    c1_3 = *(const polydl_gemm0_vector *)(c + 8 + 288);
    c2_0 = *(const polydl_gemm0_vector *)(c + 16 + 0);
    c2_1 = *(const polydl_gemm0_vector *)(c + 16 + 96);
    c2_2 = *(const polydl_gemm0_vector *)(c + 16 + 192);
    c2_3 = *(const polydl_gemm0_vector *)(c + 16 + 288);
  }
  for (long l = 0; l < steps; ++l, a += 24) {
    const polydl_gemm0_vector a0 = *(const polydl_gemm0_vector *)(a + 0);
    const polydl_gemm0_vector a1 = *(const polydl_gemm0_vector *)(a + 8);
    const polydl_gemm0_vector a2 = *(const polydl_gemm0_vector *)(a + 16);
    const polydl_gemm0_vector b0 = b[0 * steps + l] + (polydl_gemm0_vector){0}; c0_0 = polydl_gemm0_pairs(c0_0, a0, b0); c1_0 = polydl_gemm0_pairs(c1_0, a1, b0); c2_0 = polydl_gemm0_pairs(c2_0, a2, b0);
    const polydl_gemm0_vector b1 = b[1 * steps + l] + (polydl_gemm0_vector){0}; c0_1 = polydl_gemm0_pairs(c0_1, a0, b1); c1_1 = polydl_gemm0_pairs(c1_1, a1, b1); c2_1 = polydl_gemm0_pairs(c2_1, a2, b1);
    const polydl_gemm0_vector b2 = b[2 * steps + l] + (polydl_gemm0_vector){0}; c0_2 = polydl_gemm0_pairs(c0_2, a0, b2); c1_2 = polydl_gemm0_pairs(c1_2, a1, b2); c2_2 = polydl_gemm0_pairs(c2_2, a2, b2);
    const polydl_gemm0_vector b3 = b[3 * steps + l] + (polydl_gemm0_vector){0}; c0_3 = polydl_gemm0_pairs(c0_3, a0, b3); c1_3 = polydl_gemm0_pairs(c1_3, a1, b3); c2_3 = polydl_gemm0_pairs(c2_3, a2, b3);
  }
  *(polydl_gemm0_vector *)(c + 0 + 0) = c0_0;
  *(polydl_gemm0_vector *)(c + 0 + 96) = c0_1;
  *(polydl_gemm0_vector *)(c + 0 + 192) = c0_2;
  *(polydl_gemm0_vector *)(c + 0 + 288) = c0_3;
  *(polydl_gemm0_vector *)(c + 8 + 0) = c1_0;
  *(polydl_gemm0_vector *)(c + 8 + 96) = c1_1;
  *(polydl_gemm0_vector *)(c + 8 + 192) = c1_2;
  *(polydl_gemm0_vector *)(c + 8 + 288) = c1_3;
  *(polydl_gemm0_vector *)(c + 16 + 0) = c2_0;
  *(polydl_gemm0_vector *)(c + 16 + 96) = c2_1;
  *(polydl_gemm0_vector *)(c + 16 + 192) = c2_2;
  *(polydl_gemm0_vector *)(c + 16 + 288) = c2_3;
}
static void polydl_gemm0_run_000(const signed char *a, const unsigned char *b, int *c, long count, int first)
{
  int pairs_a[3072] __attribute__((aligned(64)));
  int pairs_b[256] __attribute__((aligned(64)));
  for (long r = 0; r < count; ++r, first = 0) {
    polydl_gemm0_copy_a(a + polydl_gemm0_offsets_a[r] + 0, pairs_a + 0, 24, 24, 128);
    polydl_gemm0_copy_a(a + polydl_gemm0_offsets_a[r] + 24, pairs_a + 1536, 24, 24, 128);
    for (int q = 0; q < 1; ++q) {
      polydl_gemm0_copy_b(b + polydl_gemm0_rows_b[q] + polydl_gemm0_offsets_b[r] + 0, pairs_b, 4, 128);
      polydl_gemm0_block0_3x4(pairs_a + 0, pairs_b, c + polydl_gemm0_rows_c[q] + 0 + 0, 64, first);
      polydl_gemm0_block0_3x4(pairs_a + 1536, pairs_b, c + polydl_gemm0_rows_c[q] + 24 + 0, 64, first);
      polydl_gemm0_copy_b(b + polydl_gemm0_rows_b[q] + polydl_gemm0_offsets_b[r] + 512, pairs_b, 4, 128);
      polydl_gemm0_block0_3x4(pairs_a + 0, pairs_b, c + polydl_gemm0_rows_c[q] + 0 + 384, 64, first);
      polydl_gemm0_block0_3x4(pairs_a + 1536, pairs_b, c + polydl_gemm0_rows_c[q] + 24 + 384, 64, first);
      polydl_gemm0_copy_b(b + polydl_gemm0_rows_b[q] + polydl_gemm0_offsets_b[r] + 1024, pairs_b, 4, 128);
      polydl_gemm0_block0_3x4(pairs_a + 0, pairs_b, c + polydl_gemm0_rows_c[q] + 0 + 768, 64, first);
      polydl_gemm0_block0_3x4(pairs_a + 1536, pairs_b, c + polydl_gemm0_rows_c[q] + 24 + 768, 64, first);
      polydl_gemm0_copy_b(b + polydl_gemm0_rows_b[q] + polydl_gemm0_offsets_b[r] + 1536, pairs_b, 4, 128);
      polydl_gemm0_block0_3x4(pairs_a + 0, pairs_b, c + polydl_gemm0_rows_c[q] + 0 + 1152, 64, first);
      polydl_gemm0_block0_3x4(pairs_a + 1536, pairs_b, c + polydl_gemm0_rows_c[q] + 24 + 1152, 64, first);
      polydl_gemm0_copy_b(b + polydl_gemm0_rows_b[q] + polydl_gemm0_offsets_b[r] + 2048, pairs_b, 4, 128);
      polydl_gemm0_block0_3x4(pairs_a + 0, pairs_b, c + polydl_gemm0_rows_c[q] + 0 + 1536, 64, first);
      polydl_gemm0_block0_3x4(pairs_a + 1536, pairs_b, c + polydl_gemm0_rows_c[q] + 24 + 1536, 64, first);
      polydl_gemm0_copy_b(b + polydl_gemm0_rows_b[q] + polydl_gemm0_offsets_b[r] + 2560, pairs_b, 4, 128);
      polydl_gemm0_block0_3x4(pairs_a + 0, pairs_b, c + polydl_gemm0_rows_c[q] + 0 + 1920, 64, first);
      polydl_gemm0_block0_3x4(pairs_a + 1536, pairs_b, c + polydl_gemm0_rows_c[q] + 24 + 1920, 64, first);
      polydl_gemm0_copy_b(b + polydl_gemm0_rows_b[q] + polydl_gemm0_offsets_b[r] + 3072, pairs_b, 4, 128);
      polydl_gemm0_block0_3x4(pairs_a + 0, pairs_b, c + polydl_gemm0_rows_c[q] + 0 + 2304, 64, first);
      polydl_gemm0_block0_3x4(pairs_a + 1536, pairs_b, c + polydl_gemm0_rows_c[q] + 24 + 2304, 64, first);
      polydl_gemm0_copy_b(b + polydl_gemm0_rows_b[q] + polydl_gemm0_offsets_b[r] + 3584, pairs_b, 4, 128);
      polydl_gemm0_block0_3x4(pairs_a + 0, pairs_b, c + polydl_gemm0_rows_c[q] + 0 + 2688, 64, first);
      polydl_gemm0_block0_3x4(pairs_a + 1536, pairs_b, c + polydl_gemm0_rows_c[q] + 24 + 2688, 64, first);
      polydl_gemm0_copy_b(b + polydl_gemm0_rows_b[q] + polydl_gemm0_offsets_b[r] + 4096, pairs_b, 4, 128);
      polydl_gemm0_block0_3x4(pairs_a + 0, pairs_b, c + polydl_gemm0_rows_c[q] + 0 + 3072, 64, first);
      polydl_gemm0_block0_3x4(pairs_a + 1536, pairs_b, c + polydl_gemm0_rows_c[q] + 24 + 3072, 64, first);
      polydl_gemm0_copy_b(b + polydl_gemm0_rows_b[q] + polydl_gemm0_offsets_b[r] + 4608, pairs_b, 4, 128);
      polydl_gemm0_block0_3x4(pairs_a + 0, pairs_b, c + polydl_gemm0_rows_c[q] + 0 + 3456, 64, first);
      polydl_gemm0_block0_3x4(pairs_a + 1536, pairs_b, c + polydl_gemm0_rows_c[q] + 24 + 3456, 64, first);
      polydl_gemm0_copy_b(b + polydl_gemm0_rows_b[q] + polydl_gemm0_offsets_b[r] + 5120, pairs_b, 4, 128);
      polydl_gemm0_block0_3x4(pairs_a + 0, pairs_b, c + polydl_gemm0_rows_c[q] + 0 + 3840, 64, first);
      polydl_gemm0_block0_3x4(pairs_a + 1536, pairs_b, c + polydl_gemm0_rows_c[q] + 24 + 3840, 64, first);
      polydl_gemm0_copy_b(b + polydl_gemm0_rows_b[q] + polydl_gemm0_offsets_b[r] + 5632, pairs_b, 4, 128);
      polydl_gemm0_block0_3x4(pairs_a + 0, pairs_b, c + polydl_gemm0_rows_c[q] + 0 + 4224, 64, first);
      polydl_gemm0_block0_3x4(pairs_a + 1536, pairs_b, c + polydl_gemm0_rows_c[q] + 24 + 4224, 64, first);
      polydl_gemm0_copy_b(b + polydl_gemm0_rows_b[q] + polydl_gemm0_offsets_b[r] + 6144, pairs_b, 4, 128);
      polydl_gemm0_block0_3x4(pairs_a + 0, pairs_b, c + polydl_gemm0_rows_c[q] + 0 + 4608, 64, first);
      polydl_gemm0_block0_3x4(pairs_a + 1536, pairs_b, c + polydl_gemm0_rows_c[q] + 24 + 4608, 64, first);
      polydl_gemm0_copy_b(b + polydl_gemm0_rows_b[q] + polydl_gemm0_offsets_b[r] + 6656, pairs_b, 4, 128);
      polydl_gemm0_block0_3x4(pairs_a + 0, pairs_b, c + polydl_gemm0_rows_c[q] + 0 + 4992, 64, first);
      polydl_gemm0_block0_3x4(pairs_a + 1536, pairs_b, c + polydl_gemm0_rows_c[q] + 24 + 4992, 64, first);
      polydl_gemm0_copy_b(b + polydl_gemm0_rows_b[q] + polydl_gemm0_offsets_b[r] + 7168, pairs_b, 4, 128);
      polydl_gemm0_block0_3x4(pairs_a + 0, pairs_b, c + polydl_gemm0_rows_c[q] + 0 + 5376, 64, first);
      polydl_gemm0_block0_3x4(pairs_a + 1536, pairs_b, c + polydl_gemm0_rows_c[q] + 24 + 5376, 64, first);
      polydl_gemm0_copy_b(b + polydl_gemm0_rows_b[q] + polydl_gemm0_offsets_b[r] + 7680, pairs_b, 4, 128);
      polydl_gemm0_block0_3x4(pairs_a + 0, pairs_b, c + polydl_gemm0_rows_c[q] + 0 + 5760, 64, first);
      polydl_gemm0_block0_3x4(pairs_a + 1536, pairs_b, c + polydl_gemm0_rows_c[q] + 24 + 5760, 64, first);
    }
  }
}
static void polydl_gemm0_run(const signed char *a, const unsigned char *b, int *c, int last_m, int last_n, int last_k, long count, int first)
{
  (void)last_m, (void)last_n, (void)last_k;
  if (1)
    polydl_gemm0_run_000(a, b, c, count, first);
}

/* A product of bytes in plain layouts, one operand with signs. */
#include <stdint.h>
#define bytes polydl_tuned_bytes
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void bytes(int32_t C[64][96], const uint8_t A[64][128], const int8_t B[128][96])
{
  {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    #pragma omp parallel for
    for (int j_t1 = 0; j_t1 <= 1; ++j_t1) {
      polydl_gemm0_run(&B[0][48 * (long)j_t1], &A[0][0], &C[0][48 * (long)j_t1], 0, 0, 0, 1, 0);
    }
    polydl_end(&polydl_call);
  }
}
#undef bytes

/* for all processors */
void bytes(int32_t C[64][96], const uint8_t A[64][128], const int8_t B[128][96])
{
  if (polydl_fits()) {
    polydl_tuned_bytes(C, A, B);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 96; j++)
      for (int k = 0; k < 128; k++)
        C[i][j] += A[i][k] * B[k][j];
#endif
}
void bytes_release(void);
void bytes_release(void)
{
}
const char *bytes_missing(void);
const char *bytes_missing(void)
{
  return polydl_missing();
}
/* for this one */
