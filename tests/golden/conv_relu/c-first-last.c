#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"

/* processor */
static inline int polydl_min(int a, int b) { return a < b ? a : b; }
/* team */
static struct polydl_team polydl_team;
struct polydl_gemm1_operands { float *x0; const float *x1; };
static const long polydl_gemm1_rows0[] = {0, 16};
static const long polydl_gemm1_rows1[] = {0, 0};
static inline __attribute__((always_inline, unused)) void polydl_gemm1_finished(const float *sums, float *x0, const float *x1, long rows)
{
  #pragma omp simd simdlen(8)
  for (long i = 0; i < rows; ++i) {
    float polydl_element = sums[i];
    polydl_element = ((polydl_element + x1[i]) > 0.0f) ? (polydl_element + x1[i]) : 0.0f;
    x0[i] = polydl_element;
  }
}
static inline __attribute__((always_inline, unused)) void polydl_gemm1_after_column(const struct polydl_gemm1_operands *operands, const float *sums, long first, long row, long rows)
{
  const long q = first / 12, j = first % 12;
  float *x0 = operands->x0 + polydl_gemm1_rows0[q] + 224 * j + row;
  const float *x1 = operands->x1 + polydl_gemm1_rows1[q] + row;
  polydl_gemm1_finished(sums, x0, x1, rows);
}
static inline void polydl_gemm1_after(const struct polydl_gemm1_operands *operands, const float *sums, long apart, long first, long columns, long row, long rows)
{
  while (columns > 0) {
    const long q = first / 12, j = first % 12;
    const long length = (columns < (12 - j)) ? columns : (12 - j);
    float *x0 = operands->x0 + polydl_gemm1_rows0[q] + 224 * j + row;
    const float *x1 = operands->x1 + polydl_gemm1_rows1[q] + row;
    for (long column = 0; column < length; ++column, sums += apart, x0 += 224)
      polydl_gemm1_finished(sums, x0, x1, rows);
    first += length;
    columns -= length;
  }
}
static const long polydl_gemm1_offsets_a[9] = {0, 256, 512, 768, 1024, 1280, 1536, 1792, 2048};
static const long polydl_gemm1_offsets_b[9] = {0, 16, 32, 256, 272, 288, 512, 528, 544};
typedef float polydl_gemm1_vector8 __attribute__((vector_size(32), aligned(sizeof(float)), may_alias));
static const long polydl_gemm1_starts0[2] = {0, 16};
static const long polydl_gemm1_starts1[2] = {0, 12};
static inline void polydl_gemm1_block0_1x12(const float *a, const float *b, float *c, long k, long count, int first, int last, const struct polydl_gemm1_operands *operands, long column, long row)
{
  polydl_gemm1_vector8 c0_0 = first ? (polydl_gemm1_vector8){0} : *(const polydl_gemm1_vector8 *)(c + 0);
  polydl_gemm1_vector8 c0_1 = first ? (polydl_gemm1_vector8){0} : *(const polydl_gemm1_vector8 *)(c + 224);
  polydl_gemm1_vector8 c0_2 = first ? (polydl_gemm1_vector8){0} : *(const polydl_gemm1_vector8 *)(c + 448);
  polydl_gemm1_vector8 c0_3 = first ? (polydl_gemm1_vector8){0} : *(const polydl_gemm1_vector8 *)(c + 672);
  polydl_gemm1_vector8 c0_4 = first ? (polydl_gemm1_vector8){0} : *(const polydl_gemm1_vector8 *)(c + 896);
  polydl_gemm1_vector8 c0_5 = first ? (polydl_gemm1_vector8){0} : *(const polydl_gemm1_vector8 *)(c + 1120);
  polydl_gemm1_vector8 c0_6 = first ? (polydl_gemm1_vector8){0} : *(const polydl_gemm1_vector8 *)(c + 1344);
  polydl_gemm1_vector8 c0_7 = first ? (polydl_gemm1_vector8){0} : *(const polydl_gemm1_vector8 *)(c + 1568);
  polydl_gemm1_vector8 c0_8 = first ? (polydl_gemm1_vector8){0} : *(const polydl_gemm1_vector8 *)(c + 1792);
  polydl_gemm1_vector8 c0_9 = first ? (polydl_gemm1_vector8){0} : *(const polydl_gemm1_vector8 *)(c + 2016);
  polydl_gemm1_vector8 c0_10 = first ? (polydl_gemm1_vector8){0} : *(const polydl_gemm1_vector8 *)(c + 2240);
  polydl_gemm1_vector8 c0_11 = first ? (polydl_gemm1_vector8){0} : *(const polydl_gemm1_vector8 *)(c + 2464);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm1_offsets_a[r];
    const float *br = b + polydl_gemm1_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 16 + 0);
      const polydl_gemm1_vector8 a0 = *(const polydl_gemm1_vector8 *)(ar + l * 16 + 0);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0;
      const float b1 = bl[256]; c0_1 += a0 * b1;
      const float b2 = bl[512]; c0_2 += a0 * b2;
      const float b3 = bl[768]; c0_3 += a0 * b3;
      const float b4 = bl[1024]; c0_4 += a0 * b4;
      const float b5 = bl[1280]; c0_5 += a0 * b5;
      const float b6 = bl[1536]; c0_6 += a0 * b6;
      const float b7 = bl[1792]; c0_7 += a0 * b7;
      const float b8 = bl[2048]; c0_8 += a0 * b8;
      const float b9 = bl[2304]; c0_9 += a0 * b9;
      const float b10 = bl[2560]; c0_10 += a0 * b10;
      const float b11 = bl[2816]; c0_11 += a0 * b11;
    }
  }
  if (last) {
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c0_0;
      polydl_gemm1_after_column(operands, sums, column + 0, row + 0, 8); }
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c0_1;
      polydl_gemm1_after_column(operands, sums, column + 1, row + 0, 8); }
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c0_2;
      polydl_gemm1_after_column(operands, sums, column + 2, row + 0, 8); }
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c0_3;
      polydl_gemm1_after_column(operands, sums, column + 3, row + 0, 8); }
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c0_4;
      polydl_gemm1_after_column(operands, sums, column + 4, row + 0, 8); }
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c0_5;
      polydl_gemm1_after_column(operands, sums, column + 5, row + 0, 8); }
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c0_6;
      polydl_gemm1_after_column(operands, sums, column + 6, row + 0, 8); }
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c0_7;
      polydl_gemm1_after_column(operands, sums, column + 7, row + 0, 8); }
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c0_8;
      polydl_gemm1_after_column(operands, sums, column + 8, row + 0, 8); }
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c0_9;
      polydl_gemm1_after_column(operands, sums, column + 9, row + 0, 8); }
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c0_10;
      polydl_gemm1_after_column(operands, sums, column + 10, row + 0, 8); }
    { float sums[8] __attribute__((aligned(64)));
      *(polydl_gemm1_vector8 *)sums = c0_11;
      polydl_gemm1_after_column(operands, sums, column + 11, row + 0, 8); }
    return;
  }
  *(polydl_gemm1_vector8 *)(c + 0) = c0_0;
  *(polydl_gemm1_vector8 *)(c + 224) = c0_1;
  *(polydl_gemm1_vector8 *)(c + 448) = c0_2;
  *(polydl_gemm1_vector8 *)(c + 672) = c0_3;
  *(polydl_gemm1_vector8 *)(c + 896) = c0_4;
  *(polydl_gemm1_vector8 *)(c + 1120) = c0_5;
  *(polydl_gemm1_vector8 *)(c + 1344) = c0_6;
  *(polydl_gemm1_vector8 *)(c + 1568) = c0_7;
  *(polydl_gemm1_vector8 *)(c + 1792) = c0_8;
  *(polydl_gemm1_vector8 *)(c + 2016) = c0_9;
  *(polydl_gemm1_vector8 *)(c + 2240) = c0_10;
  *(polydl_gemm1_vector8 *)(c + 2464) = c0_11;
}
static void polydl_gemm1_run_000(const float *a, const float *b, float *c, long count, int first, int last, const struct polydl_gemm1_operands *operands)
{
  for (int i = 0; i < 2; ++i) {
    polydl_gemm1_block0_1x12(a + 0, b + polydl_gemm1_starts0[i], c + 0 + polydl_gemm1_starts0[i], 16, count, first, last, operands, polydl_gemm1_starts1[i], 0);
  }
}
static void polydl_gemm1_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first, int last, const struct polydl_gemm1_operands *operands)
{
  (void)last_m;
  (void)last_n;
  (void)last_k;
  if (1)
    polydl_gemm1_run_000(a, b, c, count, first, last, operands);
}

/* A 3x3 convolution blocked by 16 channels, from zero, with a bias and ReLU behind it. */
#define conv_relu polydl_tuned_conv_relu
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void conv_relu(float output[2][2][12][14][16], const float filter[2][2][3][3][16][16],
               const float input[2][2][14][16][16], const float bias[2][16])
{
  {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    for (int oi_t2 = 0; oi_t2 <= 3; ++oi_t2) {
      polydl_between();
      #pragma omp parallel for
      for (int img = 0; img <= 1; ++img) {
        for (int ofm_t1 = 0; ofm_t1 <= 1; ++ofm_t1) {
          for (int oi_t1 = 2 * oi_t2; oi_t1 <= polydl_min(6, ((2 * oi_t2) + 1)); ++oi_t1) {
            for (int ofm_tile = 0; ofm_tile <= 1; ++ofm_tile) {
              for (int ifm_tile = 0; ifm_tile <= 1; ++ifm_tile) {
                polydl_gemm1_run(&filter[ofm_tile][ifm_tile][0][0][0][8 * ofm_t1], &input[img][ifm_tile][0][2 * oi_t1][0], &output[img][ofm_tile][0][2 * oi_t1][8 * ofm_t1], 0, 0, 0, 9, ifm_tile == 0, ifm_tile == 1, &(struct polydl_gemm1_operands){&output[img][ofm_tile][0][2 * oi_t1][8 * ofm_t1], &bias[ofm_tile][8 * ofm_t1]});
              }
            }
          }
        }
      }
    }
    polydl_end(&polydl_call);
  }
}
#undef conv_relu

/* for all processors */
void conv_relu(float output[2][2][12][14][16], const float filter[2][2][3][3][16][16],
               const float input[2][2][14][16][16], const float bias[2][16])
{
  if (polydl_fits()) {
    polydl_tuned_conv_relu(output, filter, input, bias);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int img = 0; img < 2; ++img)
    for (int ofm_tile = 0; ofm_tile < 2; ++ofm_tile)
      for (int oj = 0; oj < 12; ++oj)
        for (int oi = 0; oi < 14; ++oi)
          for (int ofm = 0; ofm < 16; ++ofm)
            output[img][ofm_tile][oj][oi][ofm] = 0.0f;
  for (int img = 0; img < 2; ++img)
    for (int ofm_tile = 0; ofm_tile < 2; ++ofm_tile)
      for (int ifm_tile = 0; ifm_tile < 2; ++ifm_tile)
        for (int oj = 0; oj < 12; ++oj)
          for (int kj = 0; kj < 3; ++kj)
            for (int ki = 0; ki < 3; ++ki)
              for (int oi = 0; oi < 14; ++oi)
                for (int ofm = 0; ofm < 16; ++ofm)
                  for (int ifm = 0; ifm < 16; ++ifm)
                    output[img][ofm_tile][oj][oi][ofm] +=
                        filter[ofm_tile][ifm_tile][kj][ki][ifm][ofm] * input[img][ifm_tile][oj + kj][oi + ki][ifm];
  for (int img = 0; img < 2; ++img)
    for (int ofm_tile = 0; ofm_tile < 2; ++ofm_tile)
      for (int oj = 0; oj < 12; ++oj)
        for (int oi = 0; oi < 14; ++oi)
          for (int ofm = 0; ofm < 16; ++ofm)
            output[img][ofm_tile][oj][oi][ofm] = output[img][ofm_tile][oj][oi][ofm] + bias[ofm_tile][ofm] > 0.0f
                                                     ? output[img][ofm_tile][oj][oi][ofm] + bias[ofm_tile][ofm]
                                                     : 0.0f;
#endif
}
void conv_relu_release(void);
void conv_relu_release(void)
{
}
const char *conv_relu_missing(void);
const char *conv_relu_missing(void)
{
  return polydl_missing();
}
/* for this one */
