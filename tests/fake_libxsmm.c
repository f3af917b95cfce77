/* Kernels for bytes as LIBXSMM's, which count their calls, and saturate pairs of products if FAKE_SATURATES is set. */
#include <stddef.h>
typedef void (*fake_function)(const char *a, const unsigned char *b, int *c, ...);
int fake_calls;
static int fake_m, fake_n, fake_k, fake_lda, fake_ldb, fake_ldc, fake_beta;

static void fake_kernel(const char *a, const unsigned char *b, int *c, ...)
{
  __atomic_add_fetch(&fake_calls, 1, __ATOMIC_RELAXED);
  for (int j = 0; j < fake_n; ++j)
    for (int i = 0; i < fake_m; ++i) {
      int sum = fake_beta * c[i + j * fake_ldc];
      for (int l = 0; l < fake_k; l += 2) {
        const char *pair = a + (l / 4 * fake_lda + i) * 4 + l % 4;
        const int products = pair[0] * b[l + j * fake_ldb] + pair[1] * b[l + 1 + j * fake_ldb];
#ifdef FAKE_SATURATES
        sum += products > 32767 ? 32767 : products < -32768 ? -32768 : products;
#else
        sum += products;
#endif
      }
      c[i + j * fake_ldc] = sum;
    }
}

fake_function libxsmm_subimmdispatch(int m, int n, int k, const int *lda, const int *ldb, const int *ldc,
                                     const int *alpha, const int *beta, const int *flags, const int *prefetch)
{
  (void)alpha;
  (void)flags;
  (void)prefetch;
  fake_m = m, fake_n = n, fake_k = k, fake_lda = *lda, fake_ldb = *ldb, fake_ldc = *ldc, fake_beta = *beta;
  return fake_kernel;
}
