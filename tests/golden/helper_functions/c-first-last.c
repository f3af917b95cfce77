#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
#include <math.h>
#if defined __x86_64__ && defined __GLIBC__ && !defined POLYDL_SCALAR_MATH
#if __GLIBC_PREREQ(2, 22)
#pragma omp declare simd notinbranch
float expf(float) __attribute__((const));
#endif
#endif

/* processor */
static inline int polydl_min(int a, int b) { return a < b ? a : b; }
#include <math.h>
static float silu(float);
struct polydl_gemm1_operands { float *x0; const float *x1; float *x2; };
static inline __attribute__((always_inline, unused)) void polydl_gemm1_finished(const float *sums, float *x0, const float *x1, float *x2, long rows)
{
  #pragma omp simd simdlen(16)
  for (long i = 0; i < rows; ++i) {
    float polydl_element = sums[i];
    x0[i] = (polydl_element > 0) ? polydl_element : 0;
    x2[i] = silu(polydl_element);
  }
}
static inline __attribute__((always_inline, unused)) void polydl_gemm1_after_column(const struct polydl_gemm1_operands *operands, const float *sums, long first, long row, long rows)
{
  const long j = first;
  float *x0 = operands->x0 + 32 * j + row;
  const float *x1 = operands->x1 + 16 * j + row;
  float *x2 = operands->x2 + 32 * j + row;
  polydl_gemm1_finished(sums, x0, x1, x2, rows);
}
static inline void polydl_gemm1_after(const struct polydl_gemm1_operands *operands, const float *sums, long apart, long first, long columns, long row, long rows)
{
  while (columns > 0) {
    const long j = first;
    const long length = columns;
    float *x0 = operands->x0 + 32 * j + row;
    const float *x1 = operands->x1 + 16 * j + row;
    float *x2 = operands->x2 + 32 * j + row;
    for (long column = 0; column < length; ++column, sums += apart, x0 += 32, x1 += 16, x2 += 32)
      polydl_gemm1_finished(sums, x0, x1, x2, rows);
    first += length;
    columns -= length;
  }
}
static const long polydl_gemm1_offsets_a[1] = {0};
static const long polydl_gemm1_offsets_b[1] = {0};
typedef float polydl_gemm1_vector16 __attribute__((vector_size(64), aligned(sizeof(float)), may_alias));
static const long polydl_gemm1_starts0[1] = {0};
static inline void polydl_gemm1_block0_1x6(const float *a, const float *b, float *c, long k, long count, int last, const struct polydl_gemm1_operands *operands, long column, long row)
{
  polydl_gemm1_vector16 c0_0 = *(const polydl_gemm1_vector16 *)(c + 0);
  polydl_gemm1_vector16 c0_1 = *(const polydl_gemm1_vector16 *)(c + 16);
  polydl_gemm1_vector16 c0_2 = *(const polydl_gemm1_vector16 *)(c + 32);
  polydl_gemm1_vector16 c0_3 = *(const polydl_gemm1_vector16 *)(c + 48);
  polydl_gemm1_vector16 c0_4 = *(const polydl_gemm1_vector16 *)(c + 64);
  polydl_gemm1_vector16 c0_5 = *(const polydl_gemm1_vector16 *)(c + 80);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm1_offsets_a[r];
    const float *br = b + polydl_gemm1_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 32 + 0);
      const polydl_gemm1_vector16 a0 = *(const polydl_gemm1_vector16 *)(ar + l * 32 + 0);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0;
      const float b1 = bl[24]; c0_1 += a0 * b1;
      const float b2 = bl[48]; c0_2 += a0 * b2;
      const float b3 = bl[72]; c0_3 += a0 * b3;
      const float b4 = bl[96]; c0_4 += a0 * b4;
      const float b5 = bl[120]; c0_5 += a0 * b5;
    }
  }
  *(polydl_gemm1_vector16 *)(c + 0) = c0_0;
  *(polydl_gemm1_vector16 *)(c + 16) = c0_1;
  *(polydl_gemm1_vector16 *)(c + 32) = c0_2;
  *(polydl_gemm1_vector16 *)(c + 48) = c0_3;
  *(polydl_gemm1_vector16 *)(c + 64) = c0_4;
  *(polydl_gemm1_vector16 *)(c + 80) = c0_5;
}
static inline void polydl_gemm1_block1_1x4(const float *a, const float *b, float *c, long k, long count, int last, const struct polydl_gemm1_operands *operands, long column, long row)
{
  polydl_gemm1_vector16 c0_0 = *(const polydl_gemm1_vector16 *)(c + 0);
  polydl_gemm1_vector16 c0_1 = *(const polydl_gemm1_vector16 *)(c + 16);
  polydl_gemm1_vector16 c0_2 = *(const polydl_gemm1_vector16 *)(c + 32);
  polydl_gemm1_vector16 c0_3 = *(const polydl_gemm1_vector16 *)(c + 48);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm1_offsets_a[r];
    const float *br = b + polydl_gemm1_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 32 + 0);
      const polydl_gemm1_vector16 a0 = *(const polydl_gemm1_vector16 *)(ar + l * 32 + 0);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0;
      const float b1 = bl[24]; c0_1 += a0 * b1;
      const float b2 = bl[48]; c0_2 += a0 * b2;
      const float b3 = bl[72]; c0_3 += a0 * b3;
    }
  }
  *(polydl_gemm1_vector16 *)(c + 0) = c0_0;
  *(polydl_gemm1_vector16 *)(c + 16) = c0_1;
  *(polydl_gemm1_vector16 *)(c + 32) = c0_2;
  *(polydl_gemm1_vector16 *)(c + 48) = c0_3;
}
static void polydl_gemm1_run_000(const float *a, const float *b, float *c, long count, int last, const struct polydl_gemm1_operands *operands)
{
  polydl_gemm1_block0_1x6(a + 0, b + 0, c + 0 + 0, 24, count, last, operands, 0, 0);
  if (last)
    for (int q = 0; q < 1; ++q)
      polydl_gemm1_after(operands, c + polydl_gemm1_starts0[q], 16, q * 6, 6, 0, 16);
}
static void polydl_gemm1_run_010(const float *a, const float *b, float *c, long count, int last, const struct polydl_gemm1_operands *operands)
{
  polydl_gemm1_block1_1x4(a + 0, b + 0, c + 0 + 0, 24, count, last, operands, 0, 0);
  if (last)
    for (int q = 0; q < 1; ++q)
      polydl_gemm1_after(operands, c + polydl_gemm1_starts0[q], 16, q * 4, 4, 0, 16);
}
static void polydl_gemm1_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first, int last, const struct polydl_gemm1_operands *operands)
{
  (void)last_m;
  (void)last_k;
  (void)first;
  if (!last_n)
    polydl_gemm1_run_000(a, b, c, count, last, operands);
  if (last_n)
    polydl_gemm1_run_010(a, b, c, count, last, operands);
}

/* for all processors */
#include <math.h>

static float silu(float x)
{
  const float weight = 1.0f + expf(-x);
  return x / weight;
}

static inline float relu(float x) { return x > 0 ? x : 0; }
/* for this one */
#define layer polydl_tuned_layer
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void layer(const float A[40][24], const float B[24][32], const float bias[32], float C[40][32], float D[40][32])
{
  {
    float s_of[6][16] __attribute__((aligned(64)));
    for (int i_t1 = 0; i_t1 <= 6; ++i_t1) {
      for (int j_t1 = 0; j_t1 <= 1; ++j_t1) {
        for (int i = 6 * i_t1; i <= polydl_min(39, ((6 * i_t1) + 5)); ++i) {
          #pragma omp simd simdlen(16)
          for (int j = 16 * j_t1; j <= ((16 * j_t1) + 15); ++j) {
            s_of[i - 6 * i_t1][j - 16 * j_t1] = bias[j];
          }
        }
        polydl_gemm1_run(&B[0][16 * j_t1], &A[6 * i_t1][0], &s_of[0][0], 0, i_t1 == 6, 0, 1, 0, 1, &(struct polydl_gemm1_operands){&C[6 * i_t1][16 * j_t1], &s_of[0][0], &D[6 * i_t1][16 * j_t1]});
      }
    }
  }
}
#undef layer

/* for all processors */
void layer(const float A[40][24], const float B[24][32], const float bias[32], float C[40][32], float D[40][32])
{
  if (polydl_fits()) {
    polydl_tuned_layer(A, B, bias, C, D);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 32; j++) {
      float s = bias[j];
      for (int k = 0; k < 24; k++)
        s += A[i][k] * B[k][j];
      C[i][j] = relu(s);
      D[i][j] = silu(s);
    }
#endif
}
void layer_release(void);
void layer_release(void)
{
}
const char *layer_missing(void);
const char *layer_missing(void)
{
  return polydl_missing();
}
/* for this one */
