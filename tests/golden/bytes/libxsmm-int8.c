#include <libxsmm.h>
#include <pthread.h>
#pragma GCC diagnostic ignored "-Wunused-variable"

static libxsmm_subimmfunction polydl_gemm0_kernel[2][2][2][2];
static const long polydl_gemm0_offsets_a[1] = {0};
static const long polydl_gemm0_offsets_b[1] = {0};
static void polydl_gemm0_loops(const signed char *a, const unsigned char *b, int *c, int last_m, int last_n, int last_k, long count, int first)
{
  const long m = last_m ? 48 : 48, n = last_n ? 64 : 64, k = last_k ? 128 : 128;
  if (first)
    for (long j = 0; j < n; ++j)
      for (long i = 0; i < m; ++i)
        c[i + j * 96] = 0;
  for (long r = 0; r < count; ++r)
    for (long j = 0; j < n; ++j)
      for (long l = 0; l < k; ++l) {
        const signed char *column = a + polydl_gemm0_offsets_a[r] + l * 96;
        const int factor = b[polydl_gemm0_offsets_b[r] + j * 128 + l * 1];
        for (long i = 0; i < m; ++i)
          c[i + j * 96] += column[1 * i] * factor;
      }
}
static _Thread_local signed char polydl_gemm0_groups[1][6144] __attribute__((aligned(64)));
static const signed char *polydl_gemm0_in_groups(const signed char *a, long m, long k, long count)
{
  const int slot = 0;
  signed char *restrict to = polydl_gemm0_groups[slot];
  for (long r = 0; r < count; ++r)
    for (long l = 0; l < k; l += 4, to += 4 * m) {
      const signed char *from = a + polydl_gemm0_offsets_a[r] + l * 96;
      for (long i = 0; i < m; ++i) {
        to[4 * i + 0] = from[i + 0];
        to[4 * i + 1] = from[i + 96];
        to[4 * i + 2] = from[i + 192];
        to[4 * i + 3] = from[i + 288];
      }
    }
  return polydl_gemm0_groups[slot];
}
static inline void polydl_gemm0_run(const signed char *a, const unsigned char *b, int *c, int last_m, int last_n, int last_k, long count, int first)
{
  const libxsmm_subimmfunction kernel = polydl_gemm0_kernel[first][last_m][last_n][last_k];
  if (kernel) {
    const signed char *groups = polydl_gemm0_in_groups(a, last_m ? 48 : 48, last_k ? 128 : 128, count);
    kernel((const char *)groups, (const unsigned char *)b, c);
  } else
    polydl_gemm0_loops(a, b, c, last_m, last_n, last_k, count, first);
}
static pthread_once_t polydl_once = PTHREAD_ONCE_INIT;
static void polydl_setup(void)
{
  {
    const libxsmm_blasint lda = 48, ldb = 128, ldc = 96;
    const int alpha = 1, beta = 1;
    const int flags = LIBXSMM_GEMM_FLAG_VNNI_A;
    polydl_gemm0_kernel[0][0][0][0] =
        libxsmm_subimmdispatch(48, 64, 128, &lda, &ldb, &ldc, &alpha, &beta, &flags, NULL);
  }
}

/* A product of bytes in plain layouts, one operand with signs. */
#include <stdint.h>
void bytes(int32_t C[64][96], const uint8_t A[64][128], const int8_t B[128][96])
{
  {
    pthread_once(&polydl_once, polydl_setup);
    #pragma omp parallel for
    for (int j_t1 = 0; j_t1 <= 1; ++j_t1) {
      polydl_gemm0_run(&B[0][48 * j_t1], &A[0][0], &C[0][48 * j_t1], 0, 0, 0, 1, 0);
    }
  }
}
