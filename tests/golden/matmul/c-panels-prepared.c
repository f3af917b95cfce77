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
enum { polydl_arrays = 1, polydl_reserved = 0 };
static const size_t polydl_sizes[polydl_arrays] = {262144};
/* kept memory */
static const long polydl_gemm1_offsets_a[1] = {0};
static const long polydl_gemm1_offsets_b[1] = {0};
typedef float polydl_gemm1_vector16 __attribute__((vector_size(64), aligned(sizeof(float)), may_alias));
static const long polydl_gemm1_starts0[2] = {0, 2816};
static inline void polydl_gemm1_block0_2x11(const float *a, const float *b, float *c, long k, long count)
{
  polydl_gemm1_vector16 c0_0 = *(const polydl_gemm1_vector16 *)(c + 0);
  polydl_gemm1_vector16 c1_0 = *(const polydl_gemm1_vector16 *)(c + 16);
  polydl_gemm1_vector16 c0_1 = *(const polydl_gemm1_vector16 *)(c + 256);
  polydl_gemm1_vector16 c1_1 = *(const polydl_gemm1_vector16 *)(c + 272);
  polydl_gemm1_vector16 c0_2 = *(const polydl_gemm1_vector16 *)(c + 512);
  polydl_gemm1_vector16 c1_2 = *(const polydl_gemm1_vector16 *)(c + 528);
  polydl_gemm1_vector16 c0_3 = *(const polydl_gemm1_vector16 *)(c + 768);
  polydl_gemm1_vector16 c1_3 = *(const polydl_gemm1_vector16 *)(c + 784);
  polydl_gemm1_vector16 c0_4 = *(const polydl_gemm1_vector16 *)(c + 1024);
  polydl_gemm1_vector16 c1_4 = *(const polydl_gemm1_vector16 *)(c + 1040);
  polydl_gemm1_vector16 c0_5 = *(const polydl_gemm1_vector16 *)(c + 1280);
  polydl_gemm1_vector16 c1_5 = *(const polydl_gemm1_vector16 *)(c + 1296);
  polydl_gemm1_vector16 c0_6 = *(const polydl_gemm1_vector16 *)(c + 1536);
  polydl_gemm1_vector16 c1_6 = *(const polydl_gemm1_vector16 *)(c + 1552);
  polydl_gemm1_vector16 c0_7 = *(const polydl_gemm1_vector16 *)(c + 1792);
  polydl_gemm1_vector16 c1_7 = *(const polydl_gemm1_vector16 *)(c + 1808);
  polydl_gemm1_vector16 c0_8 = *(const polydl_gemm1_vector16 *)(c + 2048);
  polydl_gemm1_vector16 c1_8 = *(const polydl_gemm1_vector16 *)(c + 2064);
  polydl_gemm1_vector16 c0_9 = *(const polydl_gemm1_vector16 *)(c + 2304);
  polydl_gemm1_vector16 c1_9 = *(const polydl_gemm1_vector16 *)(c + 2320);
  polydl_gemm1_vector16 c0_10 = *(const polydl_gemm1_vector16 *)(c + 2560);
  polydl_gemm1_vector16 c1_10 = *(const polydl_gemm1_vector16 *)(c + 2576);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm1_offsets_a[r];
    const float *br = b + polydl_gemm1_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 64 + 0);
      const polydl_gemm1_vector16 a0 = *(const polydl_gemm1_vector16 *)(ar + l * 64 + 0);
      __builtin_prefetch(ar + (l + 8) * 64 + 16);
      const polydl_gemm1_vector16 a1 = *(const polydl_gemm1_vector16 *)(ar + l * 64 + 16);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0;
      const float b1 = bl[256]; c0_1 += a0 * b1; c1_1 += a1 * b1;
      const float b2 = bl[512]; c0_2 += a0 * b2; c1_2 += a1 * b2;
      const float b3 = bl[768]; c0_3 += a0 * b3; c1_3 += a1 * b3;
      const float b4 = bl[1024]; c0_4 += a0 * b4; c1_4 += a1 * b4;
      const float b5 = bl[1280]; c0_5 += a0 * b5; c1_5 += a1 * b5;
      const float b6 = bl[1536]; c0_6 += a0 * b6; c1_6 += a1 * b6;
      const float b7 = bl[1792]; c0_7 += a0 * b7; c1_7 += a1 * b7;
      const float b8 = bl[2048]; c0_8 += a0 * b8; c1_8 += a1 * b8;
      const float b9 = bl[2304]; c0_9 += a0 * b9; c1_9 += a1 * b9;
      const float b10 = bl[2560]; c0_10 += a0 * b10; c1_10 += a1 * b10;
    }
  }
  *(polydl_gemm1_vector16 *)(c + 0) = c0_0;
  *(polydl_gemm1_vector16 *)(c + 16) = c1_0;
  *(polydl_gemm1_vector16 *)(c + 256) = c0_1;
  *(polydl_gemm1_vector16 *)(c + 272) = c1_1;
  *(polydl_gemm1_vector16 *)(c + 512) = c0_2;
  *(polydl_gemm1_vector16 *)(c + 528) = c1_2;
  *(polydl_gemm1_vector16 *)(c + 768) = c0_3;
  *(polydl_gemm1_vector16 *)(c + 784) = c1_3;
  *(polydl_gemm1_vector16 *)(c + 1024) = c0_4;
  *(polydl_gemm1_vector16 *)(c + 1040) = c1_4;
  *(polydl_gemm1_vector16 *)(c + 1280) = c0_5;
  *(polydl_gemm1_vector16 *)(c + 1296) = c1_5;
  *(polydl_gemm1_vector16 *)(c + 1536) = c0_6;
  *(polydl_gemm1_vector16 *)(c + 1552) = c1_6;
  *(polydl_gemm1_vector16 *)(c + 1792) = c0_7;
  *(polydl_gemm1_vector16 *)(c + 1808) = c1_7;
  *(polydl_gemm1_vector16 *)(c + 2048) = c0_8;
  *(polydl_gemm1_vector16 *)(c + 2064) = c1_8;
  *(polydl_gemm1_vector16 *)(c + 2304) = c0_9;
  *(polydl_gemm1_vector16 *)(c + 2320) = c1_9;
  *(polydl_gemm1_vector16 *)(c + 2560) = c0_10;
  *(polydl_gemm1_vector16 *)(c + 2576) = c1_10;
}
static inline void polydl_gemm1_block1_2x10(const float *a, const float *b, float *c, long k, long count)
{
  polydl_gemm1_vector16 c0_0 = *(const polydl_gemm1_vector16 *)(c + 0);
  polydl_gemm1_vector16 c1_0 = *(const polydl_gemm1_vector16 *)(c + 16);
  polydl_gemm1_vector16 c0_1 = *(const polydl_gemm1_vector16 *)(c + 256);
  polydl_gemm1_vector16 c1_1 = *(const polydl_gemm1_vector16 *)(c + 272);
  polydl_gemm1_vector16 c0_2 = *(const polydl_gemm1_vector16 *)(c + 512);
  polydl_gemm1_vector16 c1_2 = *(const polydl_gemm1_vector16 *)(c + 528);
  polydl_gemm1_vector16 c0_3 = *(const polydl_gemm1_vector16 *)(c + 768);
  polydl_gemm1_vector16 c1_3 = *(const polydl_gemm1_vector16 *)(c + 784);
  polydl_gemm1_vector16 c0_4 = *(const polydl_gemm1_vector16 *)(c + 1024);
  polydl_gemm1_vector16 c1_4 = *(const polydl_gemm1_vector16 *)(c + 1040);
  polydl_gemm1_vector16 c0_5 = *(const polydl_gemm1_vector16 *)(c + 1280);
  polydl_gemm1_vector16 c1_5 = *(const polydl_gemm1_vector16 *)(c + 1296);
  polydl_gemm1_vector16 c0_6 = *(const polydl_gemm1_vector16 *)(c + 1536);
  polydl_gemm1_vector16 c1_6 = *(const polydl_gemm1_vector16 *)(c + 1552);
  polydl_gemm1_vector16 c0_7 = *(const polydl_gemm1_vector16 *)(c + 1792);
  polydl_gemm1_vector16 c1_7 = *(const polydl_gemm1_vector16 *)(c + 1808);
  polydl_gemm1_vector16 c0_8 = *(const polydl_gemm1_vector16 *)(c + 2048);
  polydl_gemm1_vector16 c1_8 = *(const polydl_gemm1_vector16 *)(c + 2064);
  polydl_gemm1_vector16 c0_9 = *(const polydl_gemm1_vector16 *)(c + 2304);
  polydl_gemm1_vector16 c1_9 = *(const polydl_gemm1_vector16 *)(c + 2320);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm1_offsets_a[r];
    const float *br = b + polydl_gemm1_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 64 + 0);
      const polydl_gemm1_vector16 a0 = *(const polydl_gemm1_vector16 *)(ar + l * 64 + 0);
      __builtin_prefetch(ar + (l + 8) * 64 + 16);
      const polydl_gemm1_vector16 a1 = *(const polydl_gemm1_vector16 *)(ar + l * 64 + 16);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0;
      const float b1 = bl[256]; c0_1 += a0 * b1; c1_1 += a1 * b1;
      const float b2 = bl[512]; c0_2 += a0 * b2; c1_2 += a1 * b2;
      const float b3 = bl[768]; c0_3 += a0 * b3; c1_3 += a1 * b3;
      const float b4 = bl[1024]; c0_4 += a0 * b4; c1_4 += a1 * b4;
      const float b5 = bl[1280]; c0_5 += a0 * b5; c1_5 += a1 * b5;
      const float b6 = bl[1536]; c0_6 += a0 * b6; c1_6 += a1 * b6;
      const float b7 = bl[1792]; c0_7 += a0 * b7; c1_7 += a1 * b7;
      const float b8 = bl[2048]; c0_8 += a0 * b8; c1_8 += a1 * b8;
      const float b9 = bl[2304]; c0_9 += a0 * b9; c1_9 += a1 * b9;
    }
  }
  *(polydl_gemm1_vector16 *)(c + 0) = c0_0;
  *(polydl_gemm1_vector16 *)(c + 16) = c1_0;
  *(polydl_gemm1_vector16 *)(c + 256) = c0_1;
  *(polydl_gemm1_vector16 *)(c + 272) = c1_1;
  *(polydl_gemm1_vector16 *)(c + 512) = c0_2;
  *(polydl_gemm1_vector16 *)(c + 528) = c1_2;
  *(polydl_gemm1_vector16 *)(c + 768) = c0_3;
  *(polydl_gemm1_vector16 *)(c + 784) = c1_3;
  *(polydl_gemm1_vector16 *)(c + 1024) = c0_4;
  *(polydl_gemm1_vector16 *)(c + 1040) = c1_4;
  *(polydl_gemm1_vector16 *)(c + 1280) = c0_5;
  *(polydl_gemm1_vector16 *)(c + 1296) = c1_5;
  *(polydl_gemm1_vector16 *)(c + 1536) = c0_6;
  *(polydl_gemm1_vector16 *)(c + 1552) = c1_6;
  *(polydl_gemm1_vector16 *)(c + 1792) = c0_7;
  *(polydl_gemm1_vector16 *)(c + 1808) = c1_7;
  *(polydl_gemm1_vector16 *)(c + 2048) = c0_8;
  *(polydl_gemm1_vector16 *)(c + 2064) = c1_8;
  *(polydl_gemm1_vector16 *)(c + 2304) = c0_9;
  *(polydl_gemm1_vector16 *)(c + 2320) = c1_9;
}
static void polydl_gemm1_run_000(const float *a, const float *b, float *c, long count)
{
  for (int i = 0; i < 2; ++i) {
    polydl_gemm1_block0_2x11(a + 0, b + polydl_gemm1_starts0[i], c + 0 + polydl_gemm1_starts0[i], 256, count);
    polydl_gemm1_block0_2x11(a + 32, b + polydl_gemm1_starts0[i], c + 32 + polydl_gemm1_starts0[i], 256, count);
  }
  polydl_gemm1_block1_2x10(a + 0, b + 5632, c + 0 + 5632, 256, count);
  polydl_gemm1_block1_2x10(a + 32, b + 5632, c + 32 + 5632, 256, count);
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

/* C += A * B, large enough for quarters of quarters. */
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void polydl_prepare_matmul(const float B[256][256], void *polydl_prepared)
{
  {
    float (*B_panels)[256][64] = (void *)((char *)polydl_prepared + 0);
    for (int B_0 = 0; B_0 <= 3; ++B_0) {
      for (int B_1 = 0; B_1 <= 255; ++B_1) {
        #pragma omp simd simdlen(16)
        for (int B_2 = 0; B_2 <= 63; ++B_2) {
          B_panels[B_0][B_1][B_2] = B[B_1][64 * B_0 + B_2];
        }
      }
    }
  }
}
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void polydl_run_matmul(float C[256][256], const float A[256][256], const float B[256][256], const void *polydl_prepared)
{
  {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    float (*B_panels)[256][64] = (void *)((char *)polydl_prepared + 0);
    #pragma omp parallel for
    for (int j_block = 0; j_block <= 3; ++j_block) {
      for (int i_t1 = 0; i_t1 <= 7; ++i_t1) {
        polydl_gemm1_run(&B_panels[j_block][0][0], &A[32 * i_t1][0], &C[32 * i_t1][64 * j_block], 0, 0, 0, 1, 0);
      }
    }
    polydl_end(&polydl_call);
  }
}

/* for all processors */
void matmul(float C[256][256], const float A[256][256], const float B[256][256])
{
  if (polydl_fits() && polydl_reserve()) {
    void *polydl_prepared = polydl_kept(0);
    if (polydl_prepared) {
      polydl_prepare_matmul(B, polydl_prepared);
      polydl_run_matmul(C, A, B, polydl_prepared);
      polydl_leave();
      return;
    }
    polydl_leave();
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 0; i < 256; ++i)
    for (int j = 0; j < 256; ++j)
      for (int k = 0; k < 256; ++k)
        C[i][j] += A[i][k] * B[k][j];
#endif
}
void matmul(float C[256][256], const float A[256][256], const float B[256][256]);
size_t matmul_prepared_bytes(void);
void matmul_prepare(const float B[256][256], void *polydl_prepared);
void matmul_run(float C[256][256], const float A[256][256], const float B[256][256], const void *polydl_prepared);
size_t matmul_prepared_bytes(void)
{
  return 262144;
}
void matmul_prepare(const float B[256][256], void *polydl_prepared)
{
  if (polydl_fits())
    polydl_prepare_matmul(B, polydl_prepared);
}
void matmul_run(float C[256][256], const float A[256][256], const float B[256][256], const void *polydl_prepared)
{
  if (polydl_fits()) {
    polydl_run_matmul(C, A, B, polydl_prepared);
    return;
  }
  matmul(C, A, B);
  return;
}
void matmul_release(void);
void matmul_release(void)
{
  if (polydl_enter()) {
    polydl_drop();
    polydl_leave();
  }
}
const char *matmul_missing(void);
const char *matmul_missing(void)
{
  return polydl_missing();
}
/* for this one */
