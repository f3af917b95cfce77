#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"

/* processor */
/* team */
static struct polydl_team polydl_team;
static const long polydl_gemm0_offsets_a[1] = {0};
static const long polydl_gemm0_offsets_b[1] = {0};
static inline void polydl_gemm0_scalar_48(const signed char *a, const unsigned char *b, int *c, long n, long k, long count)
{
  for (long j = 0; j < n; ++j) {
    int sum[48] __attribute__((aligned(64)));
    for (int i = 0; i < 48; ++i)
      sum[i] = c[i + j * 96];
    for (long r = 0; r < count; ++r)
      for (long l = 0; l < k; ++l) {
        const unsigned char *at = b + polydl_gemm0_offsets_b[r] + j * 128 + l * 1;
        __asm__("" : "+r"(at));
        const int bv = (int)*at;
        for (int i = 0; i < 48; ++i)
          sum[i] += (int)a[polydl_gemm0_offsets_a[r] + i + l * 96] * bv;
      }
    for (int i = 0; i < 48; ++i)
      c[i + j * 96] = sum[i];
  }
}
static void polydl_gemm0_run_000(const signed char *a, const unsigned char *b, int *c, long count)
{
  polydl_gemm0_scalar_48(a + 0, b + 0, c + 0, 64, 128, count);
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
