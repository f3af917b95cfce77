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
enum { polydl_arrays = 1, polydl_reserved = 1 };
static const size_t polydl_sizes[polydl_arrays] = {131072};
/* kept memory */
static const long polydl_gemm2_offsets_a[1] = {0};
static const long polydl_gemm2_offsets_b[1] = {0};
typedef float polydl_gemm2_vector16 __attribute__((vector_size(64), aligned(sizeof(float)), may_alias));
static inline long polydl_gemm2_part(long left, long most)
{
  return left < 0 ? 0 : left < most ? left : most;
}
static const long polydl_gemm2_starts0[4] = {0, 17920, 35840, 53760};
static const long polydl_gemm2_starts1[4] = {0, 16128, 32256, 48384};
static inline void polydl_gemm2_block0_2x14(const float *a, const float *b, float *c, long k, long count, int first, const float *from, float *to, long columns)
{
  polydl_gemm2_vector16 c0_0 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 0);
  polydl_gemm2_vector16 c1_0 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 16);
  polydl_gemm2_vector16 c0_1 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 1152);
  polydl_gemm2_vector16 c1_1 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 1168);
  polydl_gemm2_vector16 c0_2 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 2304);
  polydl_gemm2_vector16 c1_2 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 2320);
  polydl_gemm2_vector16 c0_3 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 3456);
  polydl_gemm2_vector16 c1_3 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 3472);
  polydl_gemm2_vector16 c0_4 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 4608);
  polydl_gemm2_vector16 c1_4 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 4624);
  polydl_gemm2_vector16 c0_5 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 5760);
  polydl_gemm2_vector16 c1_5 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 5776);
  polydl_gemm2_vector16 c0_6 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 6912);
  polydl_gemm2_vector16 c1_6 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 6928);
  polydl_gemm2_vector16 c0_7 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 8064);
  polydl_gemm2_vector16 c1_7 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 8080);
  polydl_gemm2_vector16 c0_8 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 9216);
  polydl_gemm2_vector16 c1_8 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 9232);
  polydl_gemm2_vector16 c0_9 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 10368);
  polydl_gemm2_vector16 c1_9 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 10384);
  polydl_gemm2_vector16 c0_10 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 11520);
  polydl_gemm2_vector16 c1_10 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 11536);
  polydl_gemm2_vector16 c0_11 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 12672);
  polydl_gemm2_vector16 c1_11 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 12688);
  polydl_gemm2_vector16 c0_12 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 13824);
  polydl_gemm2_vector16 c1_12 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 13840);
  polydl_gemm2_vector16 c0_13 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 14976);
  polydl_gemm2_vector16 c1_13 = first ? (polydl_gemm2_vector16){0} : *(const polydl_gemm2_vector16 *)(c + 14992);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm2_offsets_a[r];
    const float *br = b + polydl_gemm2_offsets_b[r];
    long l = 0;
    for (long copied = 0; copied < columns; ++copied) {
      __builtin_prefetch(from + 4608, 0, 3);
      __builtin_prefetch(from + 4624, 0, 3);
      __builtin_prefetch(from + 4640, 0, 3);
      __builtin_prefetch(from + 4656, 0, 3);
      *(polydl_gemm2_vector16 *)(to + 0) = *(const polydl_gemm2_vector16 *)(from + 0);
      *(polydl_gemm2_vector16 *)(to + 16) = *(const polydl_gemm2_vector16 *)(from + 16);
      *(polydl_gemm2_vector16 *)(to + 32) = *(const polydl_gemm2_vector16 *)(from + 32);
      *(polydl_gemm2_vector16 *)(to + 48) = *(const polydl_gemm2_vector16 *)(from + 48);
      __builtin_prefetch(c + (14 + (2 * copied + 0) / 2) * 1152 + (2 * copied + 0) % 2 * 16, 1, 3);
      __builtin_prefetch(c + (14 + (2 * copied + 1) / 2) * 1152 + (2 * copied + 1) % 2 * 16, 1, 3);
      from += 1152;
      to += 64;
      _Pragma("GCC unroll 4")
      for (long s = 0; s < 16; ++s, ++l) {
        __builtin_prefetch(ar + (l + 8) * 64 + 0);
        const polydl_gemm2_vector16 a0 = *(const polydl_gemm2_vector16 *)(ar + l * 64 + 0);
        __builtin_prefetch(ar + (l + 8) * 64 + 16);
        const polydl_gemm2_vector16 a1 = *(const polydl_gemm2_vector16 *)(ar + l * 64 + 16);
        const float *bl = br + l * 1;
        const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0;
        const float b1 = bl[1280]; c0_1 += a0 * b1; c1_1 += a1 * b1;
        const float b2 = bl[2560]; c0_2 += a0 * b2; c1_2 += a1 * b2;
        const float b3 = bl[3840]; c0_3 += a0 * b3; c1_3 += a1 * b3;
        const float b4 = bl[5120]; c0_4 += a0 * b4; c1_4 += a1 * b4;
        const float b5 = bl[6400]; c0_5 += a0 * b5; c1_5 += a1 * b5;
        const float b6 = bl[7680]; c0_6 += a0 * b6; c1_6 += a1 * b6;
        const float b7 = bl[8960]; c0_7 += a0 * b7; c1_7 += a1 * b7;
        const float b8 = bl[10240]; c0_8 += a0 * b8; c1_8 += a1 * b8;
        const float b9 = bl[11520]; c0_9 += a0 * b9; c1_9 += a1 * b9;
        const float b10 = bl[12800]; c0_10 += a0 * b10; c1_10 += a1 * b10;
        const float b11 = bl[14080]; c0_11 += a0 * b11; c1_11 += a1 * b11;
        const float b12 = bl[15360]; c0_12 += a0 * b12; c1_12 += a1 * b12;
        const float b13 = bl[16640]; c0_13 += a0 * b13; c1_13 += a1 * b13;
      }
    }
    _Pragma("GCC unroll 4")
    for (; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 64 + 0);
      const polydl_gemm2_vector16 a0 = *(const polydl_gemm2_vector16 *)(ar + l * 64 + 0);
      __builtin_prefetch(ar + (l + 8) * 64 + 16);
      const polydl_gemm2_vector16 a1 = *(const polydl_gemm2_vector16 *)(ar + l * 64 + 16);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0;
      const float b1 = bl[1280]; c0_1 += a0 * b1; c1_1 += a1 * b1;
      const float b2 = bl[2560]; c0_2 += a0 * b2; c1_2 += a1 * b2;
      const float b3 = bl[3840]; c0_3 += a0 * b3; c1_3 += a1 * b3;
      const float b4 = bl[5120]; c0_4 += a0 * b4; c1_4 += a1 * b4;
      const float b5 = bl[6400]; c0_5 += a0 * b5; c1_5 += a1 * b5;
      const float b6 = bl[7680]; c0_6 += a0 * b6; c1_6 += a1 * b6;
      const float b7 = bl[8960]; c0_7 += a0 * b7; c1_7 += a1 * b7;
      const float b8 = bl[10240]; c0_8 += a0 * b8; c1_8 += a1 * b8;
      const float b9 = bl[11520]; c0_9 += a0 * b9; c1_9 += a1 * b9;
      const float b10 = bl[12800]; c0_10 += a0 * b10; c1_10 += a1 * b10;
      const float b11 = bl[14080]; c0_11 += a0 * b11; c1_11 += a1 * b11;
      const float b12 = bl[15360]; c0_12 += a0 * b12; c1_12 += a1 * b12;
      const float b13 = bl[16640]; c0_13 += a0 * b13; c1_13 += a1 * b13;
    }
  }
  *(polydl_gemm2_vector16 *)(c + 0) = c0_0;
  *(polydl_gemm2_vector16 *)(c + 16) = c1_0;
  *(polydl_gemm2_vector16 *)(c + 1152) = c0_1;
  *(polydl_gemm2_vector16 *)(c + 1168) = c1_1;
  *(polydl_gemm2_vector16 *)(c + 2304) = c0_2;
  *(polydl_gemm2_vector16 *)(c + 2320) = c1_2;
  *(polydl_gemm2_vector16 *)(c + 3456) = c0_3;
  *(polydl_gemm2_vector16 *)(c + 3472) = c1_3;
  *(polydl_gemm2_vector16 *)(c + 4608) = c0_4;
  *(polydl_gemm2_vector16 *)(c + 4624) = c1_4;
  *(polydl_gemm2_vector16 *)(c + 5760) = c0_5;
  *(polydl_gemm2_vector16 *)(c + 5776) = c1_5;
  *(polydl_gemm2_vector16 *)(c + 6912) = c0_6;
  *(polydl_gemm2_vector16 *)(c + 6928) = c1_6;
  *(polydl_gemm2_vector16 *)(c + 8064) = c0_7;
  *(polydl_gemm2_vector16 *)(c + 8080) = c1_7;
  *(polydl_gemm2_vector16 *)(c + 9216) = c0_8;
  *(polydl_gemm2_vector16 *)(c + 9232) = c1_8;
  *(polydl_gemm2_vector16 *)(c + 10368) = c0_9;
  *(polydl_gemm2_vector16 *)(c + 10384) = c1_9;
  *(polydl_gemm2_vector16 *)(c + 11520) = c0_10;
  *(polydl_gemm2_vector16 *)(c + 11536) = c1_10;
  *(polydl_gemm2_vector16 *)(c + 12672) = c0_11;
  *(polydl_gemm2_vector16 *)(c + 12688) = c1_11;
  *(polydl_gemm2_vector16 *)(c + 13824) = c0_12;
  *(polydl_gemm2_vector16 *)(c + 13840) = c1_12;
  *(polydl_gemm2_vector16 *)(c + 14976) = c0_13;
  *(polydl_gemm2_vector16 *)(c + 14992) = c1_13;
}
static void polydl_gemm2_run_000(const float *a, const float *b, float *c, long count, int first, const float *from, float *to, long columns)
{
  for (int i = 0; i < 4; ++i) {
    polydl_gemm2_block0_2x14(a + 0, b + polydl_gemm2_starts0[i], c + 0 + polydl_gemm2_starts1[i], 256, count, first, from + (0 + i * 2) * 18432, to + (0 + i * 2) * 1024, polydl_gemm2_part(columns - (0 + i * 2) * 16, 16));
    polydl_gemm2_block0_2x14(a + 32, b + polydl_gemm2_starts0[i], c + 32 + polydl_gemm2_starts1[i], 256, count, first, from + (1 + i * 2) * 18432, to + (1 + i * 2) * 1024, polydl_gemm2_part(columns - (1 + i * 2) * 16, 16));
  }
}
static void polydl_gemm2_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first, const float *from, float *to, long columns)
{
  (void)last_m;
  (void)last_n;
  (void)last_k;
  if (1)
    polydl_gemm2_run_000(a, b, c, count, first, from, to, columns);
}

/* C = A * B of sizes for which B is packed. */
#define matmul_panels polydl_tuned_matmul_panels
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void matmul_panels(float C[112][1152], const float A[112][1280], const float B[1280][1152])
{
  if (polydl_reserve()) {
    float (*B_tile)[64] = polydl_kept(0);
    for (int polydl_c5 = 0; polydl_c5 <= 255; ++polydl_c5) {
      #pragma omp simd simdlen(16)
      for (int B_1 = 0; B_1 <= 63; ++B_1) {
        B_tile[polydl_c5][B_1] = B[polydl_c5][B_1];
      }
    }
    for (int k_block = 0; k_block <= 4; ++k_block) {
      for (int j_block = 0; j_block <= 17; ++j_block) {
        for (int polydl_c5 = 0; polydl_c5 <= 1; ++polydl_c5) {
          polydl_gemm2_run(&B_tile[256 * ((18 * k_block + j_block) % 2)][0], &A[56 * polydl_c5][256 * k_block], &C[56 * polydl_c5][64 * j_block], 0, 0, 0, 1, k_block == 0, &B[256 * ((j_block == 17) ? ((k_block < 4) ? (k_block + 1) : 0) : k_block)][64 * ((j_block < 17) ? (j_block + 1) : 0)] + (polydl_c5 * 147456l), &B_tile[256 * ((18 * k_block + j_block + 1) % 2)][0] + (polydl_c5 * 8192l), (18 * k_block + j_block == 89) ? 0 : 128);
        }
      }
    }
    polydl_leave();
  } else {
  for (int i = 0; i < 112; i++)
    for (int j = 0; j < 1152; j++) {
      C[i][j] = 0.0f;
      for (int k = 0; k < 1280; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
  }
}
#undef matmul_panels

/* for all processors */
void matmul_panels(float C[112][1152], const float A[112][1280], const float B[1280][1152])
{
  if (polydl_fits()) {
    polydl_tuned_matmul_panels(C, A, B);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 0; i < 112; i++)
    for (int j = 0; j < 1152; j++) {
      C[i][j] = 0.0f;
      for (int k = 0; k < 1280; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
#endif
}
void matmul_panels_release(void);
void matmul_panels_release(void)
{
  if (polydl_enter()) {
    polydl_drop();
    polydl_leave();
  }
}
const char *matmul_panels_missing(void);
const char *matmul_panels_missing(void)
{
  return polydl_missing();
}
/* for this one */
