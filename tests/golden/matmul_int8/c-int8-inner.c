#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
/* team */
static struct polydl_team polydl_team;
static const long polydl_gemm0_offsets_a[34] = {0, 256, 512, 768, 1024, 1280, 1536, 1792, 2048, 2304, 2560, 2816, 3072, 3328, 3584, 3840, 4096, 4352, 4608, 4864, 5120, 5376, 5632, 5888, 6144, 6400, 6656, 6912, 7168, 7424, 7680, 7936, 0, 256};
static const long polydl_gemm0_offsets_b[32] = {0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72, 76, 80, 84, 88, 92, 96, 100, 104, 108, 112, 116, 120, 124};
typedef int polydl_gemm0_vector16 __attribute__((vector_size(64), aligned(sizeof(int)), may_alias));
typedef int polydl_gemm0_groups16 __attribute__((vector_size(64), aligned(1), may_alias));
typedef int polydl_gemm0_group __attribute__((aligned(1), may_alias));
#if (defined __AVX512VNNI__)
#include <immintrin.h>
#endif
static inline polydl_gemm0_vector16 polydl_gemm0_dot(polydl_gemm0_vector16 sum, polydl_gemm0_groups16 a, polydl_gemm0_groups16 b)
{
#if defined __AVX512VNNI__
  return (polydl_gemm0_vector16)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)b, (__m512i)a);
#else
  typedef unsigned int polydl_gemm0_bits16 __attribute__((vector_size(64)));
  for (int byte = 0; byte < 4; ++byte)
    sum += (polydl_gemm0_vector16)(((polydl_gemm0_bits16)b >> 8 * byte) & 255) *
           ((polydl_gemm0_vector16)((polydl_gemm0_bits16)a << (24 - 8 * byte)) >> 24);
  return sum;
#endif
}
static const long polydl_gemm0_starts0[2] = {0, 1024};
static inline void polydl_gemm0_block0_2x8(const signed char *a, const unsigned char *b, int *c, long k, long count)
{
  polydl_gemm0_vector16 c0_0 = *(polydl_gemm0_vector16 *)(c + 0);
  polydl_gemm0_vector16 c1_0 = *(polydl_gemm0_vector16 *)(c + 16);
  polydl_gemm0_vector16 c0_1 = *(polydl_gemm0_vector16 *)(c + 128);
  polydl_gemm0_vector16 c1_1 = *(polydl_gemm0_vector16 *)(c + 144);
  polydl_gemm0_vector16 c0_2 = *(polydl_gemm0_vector16 *)(c + 256);
  polydl_gemm0_vector16 c1_2 = *(polydl_gemm0_vector16 *)(c + 272);
  polydl_gemm0_vector16 c0_3 = *(polydl_gemm0_vector16 *)(c + 384);
  polydl_gemm0_vector16 c1_3 = *(polydl_gemm0_vector16 *)(c + 400);
  polydl_gemm0_vector16 c0_4 = *(polydl_gemm0_vector16 *)(c + 512);
  polydl_gemm0_vector16 c1_4 = *(polydl_gemm0_vector16 *)(c + 528);
  polydl_gemm0_vector16 c0_5 = *(polydl_gemm0_vector16 *)(c + 640);
  polydl_gemm0_vector16 c1_5 = *(polydl_gemm0_vector16 *)(c + 656);
  polydl_gemm0_vector16 c0_6 = *(polydl_gemm0_vector16 *)(c + 768);
  polydl_gemm0_vector16 c1_6 = *(polydl_gemm0_vector16 *)(c + 784);
  polydl_gemm0_vector16 c0_7 = *(polydl_gemm0_vector16 *)(c + 896);
  polydl_gemm0_vector16 c1_7 = *(polydl_gemm0_vector16 *)(c + 912);
  for (long r = 0; r < count; r += 32) {
    const signed char *ar = a + polydl_gemm0_offsets_a[r];
    const unsigned char *br = b + polydl_gemm0_offsets_b[r];
    (void)k;
    for (long l = 0; l < 32; ++l) {
      const signed char *al = ar + l * 256;
      const unsigned char *bl = br + l * 4;
      __builtin_prefetch(al + (2048));
      __builtin_prefetch(al + (2112));
      const polydl_gemm0_groups16 a0 = *(const polydl_gemm0_groups16 *)(al + 0);
      const polydl_gemm0_groups16 a1 = *(const polydl_gemm0_groups16 *)(al + 64);
      const polydl_gemm0_groups16 b0 = *(const polydl_gemm0_group *)(bl + 0) + (polydl_gemm0_groups16){0};
      c0_0 = polydl_gemm0_dot(c0_0, a0, b0);
      c1_0 = polydl_gemm0_dot(c1_0, a1, b0);
      const polydl_gemm0_groups16 b1 = *(const polydl_gemm0_group *)(bl + 128) + (polydl_gemm0_groups16){0};
      c0_1 = polydl_gemm0_dot(c0_1, a0, b1);
      c1_1 = polydl_gemm0_dot(c1_1, a1, b1);
      const polydl_gemm0_groups16 b2 = *(const polydl_gemm0_group *)(bl + 256) + (polydl_gemm0_groups16){0};
      c0_2 = polydl_gemm0_dot(c0_2, a0, b2);
      c1_2 = polydl_gemm0_dot(c1_2, a1, b2);
      const polydl_gemm0_groups16 b3 = *(const polydl_gemm0_group *)(bl + 384) + (polydl_gemm0_groups16){0};
      c0_3 = polydl_gemm0_dot(c0_3, a0, b3);
      c1_3 = polydl_gemm0_dot(c1_3, a1, b3);
      const polydl_gemm0_groups16 b4 = *(const polydl_gemm0_group *)(bl + 512) + (polydl_gemm0_groups16){0};
      c0_4 = polydl_gemm0_dot(c0_4, a0, b4);
      c1_4 = polydl_gemm0_dot(c1_4, a1, b4);
      const polydl_gemm0_groups16 b5 = *(const polydl_gemm0_group *)(bl + 640) + (polydl_gemm0_groups16){0};
      c0_5 = polydl_gemm0_dot(c0_5, a0, b5);
      c1_5 = polydl_gemm0_dot(c1_5, a1, b5);
      const polydl_gemm0_groups16 b6 = *(const polydl_gemm0_group *)(bl + 768) + (polydl_gemm0_groups16){0};
      c0_6 = polydl_gemm0_dot(c0_6, a0, b6);
      c1_6 = polydl_gemm0_dot(c1_6, a1, b6);
      const polydl_gemm0_groups16 b7 = *(const polydl_gemm0_group *)(bl + 896) + (polydl_gemm0_groups16){0};
      c0_7 = polydl_gemm0_dot(c0_7, a0, b7);
      c1_7 = polydl_gemm0_dot(c1_7, a1, b7);
    }
  }
  *(polydl_gemm0_vector16 *)(c + 0) = c0_0;
  *(polydl_gemm0_vector16 *)(c + 16) = c1_0;
  *(polydl_gemm0_vector16 *)(c + 128) = c0_1;
  *(polydl_gemm0_vector16 *)(c + 144) = c1_1;
  *(polydl_gemm0_vector16 *)(c + 256) = c0_2;
  *(polydl_gemm0_vector16 *)(c + 272) = c1_2;
  *(polydl_gemm0_vector16 *)(c + 384) = c0_3;
  *(polydl_gemm0_vector16 *)(c + 400) = c1_3;
  *(polydl_gemm0_vector16 *)(c + 512) = c0_4;
  *(polydl_gemm0_vector16 *)(c + 528) = c1_4;
  *(polydl_gemm0_vector16 *)(c + 640) = c0_5;
  *(polydl_gemm0_vector16 *)(c + 656) = c1_5;
  *(polydl_gemm0_vector16 *)(c + 768) = c0_6;
  *(polydl_gemm0_vector16 *)(c + 784) = c1_6;
  *(polydl_gemm0_vector16 *)(c + 896) = c0_7;
  *(polydl_gemm0_vector16 *)(c + 912) = c1_7;
}
static void polydl_gemm0_run_000(const signed char *a, const unsigned char *b, int *c, long count)
{
  for (int i = 0; i < 2; ++i) {
    polydl_gemm0_block0_2x8(a + 0, b + polydl_gemm0_starts0[i], c + 0 + polydl_gemm0_starts0[i], 1, count);
  }
}
static void polydl_gemm0_run(const signed char *a, const unsigned char *b, int *c, int last_m, int last_n, int last_k, long count, int first)
{
  (void)last_m;
  (void)last_n;
  (void)last_k;
  (void)first;
  if (1)
    polydl_gemm0_run_000(a, b, c, count);
}

/* A product of bytes summed as int, in groups of four, with what turns the sums into floats. */
enum { M = 48, N = 128, K = 128 };
#define matmul_int8 polydl_tuned_matmul_int8
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void matmul_int8(int C[M][N / 64][64], float D[M][N / 64][64], const unsigned char A[M][K / 4][4],
                 const signed char B[N / 64][K / 4][64][4], const float scale[N / 64][64])
{
  {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    for (int j_t1 = 0; j_t1 <= 1; ++j_t1) {
      polydl_between();
      #pragma omp parallel for collapse(2)
      for (int i_t1 = 0; i_t1 <= 2; ++i_t1) {
        for (int jt = 0; jt <= 1; ++jt) {
          polydl_gemm0_run(&B[jt][0][32 * (long)j_t1][0], &A[16 * (long)i_t1][0][0], &C[16 * (long)i_t1][jt][32 * (long)j_t1], 0, 0, 0, 32, 0);
        }
      }
    }
    polydl_between();
    #pragma omp parallel for
    for (int i = 0; i <= 47; ++i) {
      for (int jt = 0; jt <= 1; ++jt) {
        #pragma omp simd simdlen(16)
        for (int j = 0; j <= 63; ++j) {
          D[i][jt][j] = scale[jt][j] * (float)(C[i][jt][j]);
        }
      }
    }
    polydl_end(&polydl_call);
  }
}
#undef matmul_int8

/* for all processors */
void matmul_int8(int C[M][N / 64][64], float D[M][N / 64][64], const unsigned char A[M][K / 4][4],
                 const signed char B[N / 64][K / 4][64][4], const float scale[N / 64][64])
{
  if (polydl_fits()) {
    polydl_tuned_matmul_int8(C, D, A, B, scale);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 0; i < M; ++i)
    for (int jt = 0; jt < N / 64; ++jt)
      for (int j = 0; j < 64; ++j)
        for (int k = 0; k < K / 4; ++k)
          for (int q = 0; q < 4; ++q)
            C[i][jt][j] += (int)A[i][k][q] * (int)B[jt][k][j][q];
  for (int i = 0; i < M; ++i)
    for (int jt = 0; jt < N / 64; ++jt)
      for (int j = 0; j < 64; ++j)
        D[i][jt][j] = scale[jt][j] * (float)C[i][jt][j];
#endif
}
void matmul_int8_release(void);
void matmul_int8_release(void)
{
}
const char *matmul_int8_missing(void);
const char *matmul_int8_missing(void)
{
  return polydl_missing();
}
/* for this one */
