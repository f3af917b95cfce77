#include <libxsmm.h>
#include <pthread.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

static libxsmm_subimmfunction polydl_gemm0_kernel[2][2][2][2];
static const long polydl_gemm0_offsets_a[32] = {0, 256, 512, 768, 1024, 1280, 1536, 1792, 2048, 2304, 2560, 2816, 3072, 3328, 3584, 3840, 4096, 4352, 4608, 4864, 5120, 5376, 5632, 5888, 6144, 6400, 6656, 6912, 7168, 7424, 7680, 7936};
static const long polydl_gemm0_offsets_b[32] = {0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72, 76, 80, 84, 88, 92, 96, 100, 104, 108, 112, 116, 120, 124};
static void polydl_gemm0_loops(const signed char *a, const unsigned char *b, int *c, int last_m, int last_n, int last_k, long count, int first)
{
  const long m = last_m ? 8 : 8, n = last_n ? 16 : 16, k = last_k ? 4 : 4;
  if (first)
    for (long j = 0; j < n; ++j)
      for (long i = 0; i < m; ++i)
        c[i + j * 128] = 0;
  for (long r = 0; r < count; ++r)
    for (long j = 0; j < n; ++j)
      for (long l = 0; l < k; ++l) {
        const signed char *column = a + polydl_gemm0_offsets_a[r] + l * 1;
        const int factor = b[polydl_gemm0_offsets_b[r] + j * 128 + l * 1];
        for (long i = 0; i < m; ++i)
          c[i + j * 128] += column[4 * i] * factor;
      }
}
static inline void polydl_gemm0_run(const signed char *a, const unsigned char *b, int *c, int last_m, int last_n, int last_k, long count, int first)
{
  const libxsmm_subimmfunction kernel = polydl_gemm0_kernel[first][last_m][last_n][last_k];
  if (kernel) {
    kernel((const char *)a, (const unsigned char *)b, c);
  } else
    polydl_gemm0_loops(a, b, c, last_m, last_n, last_k, count, first);
}
static pthread_once_t polydl_once = PTHREAD_ONCE_INIT;
static void polydl_setup(void)
{
  {
    const libxsmm_blasint lda = 64, ldb = 128, ldc = 128;
    const int alpha = 1, beta = 1;
    const int flags = LIBXSMM_GEMM_FLAG_VNNI_A;
    polydl_gemm0_kernel[0][0][0][0] =
        libxsmm_subimmdispatch(8, 16, 128, &lda, &ldb, &ldc, &alpha, &beta, &flags, NULL);
  }
}

/* A product of bytes summed as int, in groups of four, with what turns the sums into floats. */
enum { M = 48, N = 128, K = 128 };

void matmul_int8(int C[M][N / 64][64], float D[M][N / 64][64], const unsigned char A[M][K / 4][4],
                 const signed char B[N / 64][K / 4][64][4], const float scale[N / 64][64])
{
  {
    pthread_once(&polydl_once, polydl_setup);
    #pragma omp parallel for collapse(2)
    for (int i_t1 = 0; i_t1 <= 2; ++i_t1) {
      for (int jt = 0; jt <= 1; ++jt) {
        for (int j_t2 = 0; j_t2 <= 1; ++j_t2) {
          for (int j_t1 = 4 * j_t2; j_t1 <= ((4 * j_t2) + 3); ++j_t1) {
            polydl_gemm0_run(&B[jt][0][8 * j_t1][0], &A[16 * i_t1][0][0], &C[16 * i_t1][jt][8 * j_t1], 0, 0, 0, 32, 0);
          }
        }
      }
    }
    #pragma omp parallel for
    for (int i = 0; i <= 47; ++i) {
      for (int jt = 0; jt <= 1; ++jt) {
        #pragma omp simd simdlen(8)
        for (int j = 0; j <= 63; ++j) {
          D[i][jt][j] = scale[jt][j] * (float)(C[i][jt][j]);
        }
      }
    }
  }
}
