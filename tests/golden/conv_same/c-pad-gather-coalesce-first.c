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
enum { polydl_arrays = 1, polydl_reserved = 1 };
static const size_t polydl_sizes[polydl_arrays] = {104832};
/* kept memory */
static const long polydl_gemm4_offsets_a[1] = {0};
static const long polydl_gemm4_offsets_b[1] = {0};
typedef float polydl_gemm4_vector16 __attribute__((vector_size(64), aligned(sizeof(float)), may_alias));
static inline void polydl_gemm4_block0_3x8(const float *a, const float *b, float *c, long k, long count, int first)
{
  polydl_gemm4_vector16 c0_0 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 0);
  polydl_gemm4_vector16 c1_0 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 16);
  polydl_gemm4_vector16 c2_0 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 32);
  polydl_gemm4_vector16 c0_1 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 182);
  polydl_gemm4_vector16 c1_1 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 198);
  polydl_gemm4_vector16 c2_1 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 214);
  polydl_gemm4_vector16 c0_2 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 364);
  polydl_gemm4_vector16 c1_2 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 380);
  polydl_gemm4_vector16 c2_2 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 396);
  polydl_gemm4_vector16 c0_3 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 546);
  polydl_gemm4_vector16 c1_3 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 562);
  polydl_gemm4_vector16 c2_3 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 578);
  polydl_gemm4_vector16 c0_4 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 728);
  polydl_gemm4_vector16 c1_4 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 744);
  polydl_gemm4_vector16 c2_4 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 760);
  polydl_gemm4_vector16 c0_5 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 910);
  polydl_gemm4_vector16 c1_5 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 926);
  polydl_gemm4_vector16 c2_5 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 942);
  polydl_gemm4_vector16 c0_6 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 1092);
  polydl_gemm4_vector16 c1_6 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 1108);
  polydl_gemm4_vector16 c2_6 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 1124);
  polydl_gemm4_vector16 c0_7 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 1274);
  polydl_gemm4_vector16 c1_7 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 1290);
  polydl_gemm4_vector16 c2_7 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 1306);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm4_offsets_a[r];
    const float *br = b + polydl_gemm4_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 182 + 0);
      const polydl_gemm4_vector16 a0 = *(const polydl_gemm4_vector16 *)(ar + l * 182 + 0);
      __builtin_prefetch(ar + (l + 8) * 182 + 16);
      const polydl_gemm4_vector16 a1 = *(const polydl_gemm4_vector16 *)(ar + l * 182 + 16);
      __builtin_prefetch(ar + (l + 8) * 182 + 32);
      const polydl_gemm4_vector16 a2 = *(const polydl_gemm4_vector16 *)(ar + l * 182 + 32);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0; c2_0 += a2 * b0;
      const float b1 = bl[144]; c0_1 += a0 * b1; c1_1 += a1 * b1; c2_1 += a2 * b1;
      const float b2 = bl[288]; c0_2 += a0 * b2; c1_2 += a1 * b2; c2_2 += a2 * b2;
      const float b3 = bl[432]; c0_3 += a0 * b3; c1_3 += a1 * b3; c2_3 += a2 * b3;
      const float b4 = bl[576]; c0_4 += a0 * b4; c1_4 += a1 * b4; c2_4 += a2 * b4;
      const float b5 = bl[720]; c0_5 += a0 * b5; c1_5 += a1 * b5; c2_5 += a2 * b5;
      const float b6 = bl[864]; c0_6 += a0 * b6; c1_6 += a1 * b6; c2_6 += a2 * b6;
      const float b7 = bl[1008]; c0_7 += a0 * b7; c1_7 += a1 * b7; c2_7 += a2 * b7;
    }
  }
  *(polydl_gemm4_vector16 *)(c + 0) = c0_0;
  *(polydl_gemm4_vector16 *)(c + 16) = c1_0;
  *(polydl_gemm4_vector16 *)(c + 32) = c2_0;
  *(polydl_gemm4_vector16 *)(c + 182) = c0_1;
  *(polydl_gemm4_vector16 *)(c + 198) = c1_1;
  *(polydl_gemm4_vector16 *)(c + 214) = c2_1;
  *(polydl_gemm4_vector16 *)(c + 364) = c0_2;
  *(polydl_gemm4_vector16 *)(c + 380) = c1_2;
  *(polydl_gemm4_vector16 *)(c + 396) = c2_2;
  *(polydl_gemm4_vector16 *)(c + 546) = c0_3;
  *(polydl_gemm4_vector16 *)(c + 562) = c1_3;
  *(polydl_gemm4_vector16 *)(c + 578) = c2_3;
  *(polydl_gemm4_vector16 *)(c + 728) = c0_4;
  *(polydl_gemm4_vector16 *)(c + 744) = c1_4;
  *(polydl_gemm4_vector16 *)(c + 760) = c2_4;
  *(polydl_gemm4_vector16 *)(c + 910) = c0_5;
  *(polydl_gemm4_vector16 *)(c + 926) = c1_5;
  *(polydl_gemm4_vector16 *)(c + 942) = c2_5;
  *(polydl_gemm4_vector16 *)(c + 1092) = c0_6;
  *(polydl_gemm4_vector16 *)(c + 1108) = c1_6;
  *(polydl_gemm4_vector16 *)(c + 1124) = c2_6;
  *(polydl_gemm4_vector16 *)(c + 1274) = c0_7;
  *(polydl_gemm4_vector16 *)(c + 1290) = c1_7;
  *(polydl_gemm4_vector16 *)(c + 1306) = c2_7;
}
static inline void polydl_gemm4_block1_3x8(const float *a, const float *b, float *c, long k, long count, int first)
{
  polydl_gemm4_vector16 c0_0 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 0);
  polydl_gemm4_vector16 c1_0 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 16);
  polydl_gemm4_vector16 c2_0 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 22);
  polydl_gemm4_vector16 c0_1 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 182);
  polydl_gemm4_vector16 c1_1 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 198);
  polydl_gemm4_vector16 c2_1 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 204);
  polydl_gemm4_vector16 c0_2 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 364);
  polydl_gemm4_vector16 c1_2 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 380);
  polydl_gemm4_vector16 c2_2 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 386);
  polydl_gemm4_vector16 c0_3 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 546);
  polydl_gemm4_vector16 c1_3 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 562);
  polydl_gemm4_vector16 c2_3 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 568);
  polydl_gemm4_vector16 c0_4 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 728);
  polydl_gemm4_vector16 c1_4 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 744);
  polydl_gemm4_vector16 c2_4 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 750);
  polydl_gemm4_vector16 c0_5 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 910);
  polydl_gemm4_vector16 c1_5 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 926);
  polydl_gemm4_vector16 c2_5 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 932);
  polydl_gemm4_vector16 c0_6 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 1092);
  polydl_gemm4_vector16 c1_6 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 1108);
  polydl_gemm4_vector16 c2_6 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 1114);
  polydl_gemm4_vector16 c0_7 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 1274);
  polydl_gemm4_vector16 c1_7 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 1290);
  polydl_gemm4_vector16 c2_7 = first ? (polydl_gemm4_vector16){0} : *(const polydl_gemm4_vector16 *)(c + 1296);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm4_offsets_a[r];
    const float *br = b + polydl_gemm4_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 182 + 0);
      const polydl_gemm4_vector16 a0 = *(const polydl_gemm4_vector16 *)(ar + l * 182 + 0);
      __builtin_prefetch(ar + (l + 8) * 182 + 16);
      const polydl_gemm4_vector16 a1 = *(const polydl_gemm4_vector16 *)(ar + l * 182 + 16);
      __builtin_prefetch(ar + (l + 8) * 182 + 22);
      const polydl_gemm4_vector16 a2 = *(const polydl_gemm4_vector16 *)(ar + l * 182 + 22);
      const float *bl = br + l * 1;
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0; c2_0 += a2 * b0;
      const float b1 = bl[144]; c0_1 += a0 * b1; c1_1 += a1 * b1; c2_1 += a2 * b1;
      const float b2 = bl[288]; c0_2 += a0 * b2; c1_2 += a1 * b2; c2_2 += a2 * b2;
      const float b3 = bl[432]; c0_3 += a0 * b3; c1_3 += a1 * b3; c2_3 += a2 * b3;
      const float b4 = bl[576]; c0_4 += a0 * b4; c1_4 += a1 * b4; c2_4 += a2 * b4;
      const float b5 = bl[720]; c0_5 += a0 * b5; c1_5 += a1 * b5; c2_5 += a2 * b5;
      const float b6 = bl[864]; c0_6 += a0 * b6; c1_6 += a1 * b6; c2_6 += a2 * b6;
      const float b7 = bl[1008]; c0_7 += a0 * b7; c1_7 += a1 * b7; c2_7 += a2 * b7;
    }
  }
  *(polydl_gemm4_vector16 *)(c + 0) = c0_0;
  *(polydl_gemm4_vector16 *)(c + 16) = c1_0;
  *(polydl_gemm4_vector16 *)(c + 22) = c2_0;
  *(polydl_gemm4_vector16 *)(c + 182) = c0_1;
  *(polydl_gemm4_vector16 *)(c + 198) = c1_1;
  *(polydl_gemm4_vector16 *)(c + 204) = c2_1;
  *(polydl_gemm4_vector16 *)(c + 364) = c0_2;
  *(polydl_gemm4_vector16 *)(c + 380) = c1_2;
  *(polydl_gemm4_vector16 *)(c + 386) = c2_2;
  *(polydl_gemm4_vector16 *)(c + 546) = c0_3;
  *(polydl_gemm4_vector16 *)(c + 562) = c1_3;
  *(polydl_gemm4_vector16 *)(c + 568) = c2_3;
  *(polydl_gemm4_vector16 *)(c + 728) = c0_4;
  *(polydl_gemm4_vector16 *)(c + 744) = c1_4;
  *(polydl_gemm4_vector16 *)(c + 750) = c2_4;
  *(polydl_gemm4_vector16 *)(c + 910) = c0_5;
  *(polydl_gemm4_vector16 *)(c + 926) = c1_5;
  *(polydl_gemm4_vector16 *)(c + 932) = c2_5;
  *(polydl_gemm4_vector16 *)(c + 1092) = c0_6;
  *(polydl_gemm4_vector16 *)(c + 1108) = c1_6;
  *(polydl_gemm4_vector16 *)(c + 1114) = c2_6;
  *(polydl_gemm4_vector16 *)(c + 1274) = c0_7;
  *(polydl_gemm4_vector16 *)(c + 1290) = c1_7;
  *(polydl_gemm4_vector16 *)(c + 1296) = c2_7;
}
static void polydl_gemm4_run_000(const float *a, const float *b, float *c, long count, int first)
{
  polydl_gemm4_block0_3x8(a + 0, b + 0, c + 0 + 0, 144, count, first);
  polydl_gemm4_block0_3x8(a + 48, b + 0, c + 48 + 0, 144, count, first);
}
static void polydl_gemm4_run_100(const float *a, const float *b, float *c, long count, int first)
{
  polydl_gemm4_block0_3x8(a + 0, b + 0, c + 0 + 0, 144, count, first);
  polydl_gemm4_block1_3x8(a + 48, b + 0, c + 48 + 0, 144, count, first);
}
static void polydl_gemm4_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  (void)last_n;
  (void)last_k;
  if (!last_m)
    polydl_gemm4_run_000(a, b, c, count, first);
  if (last_m)
    polydl_gemm4_run_100(a, b, c, count, first);
}

/* A convolution that keeps the size of the image: a condition finds out what lies beyond the border. */
#define conv_same polydl_tuned_conv_same
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void conv_same(float output[1][32][14][13], const float weights[32][16][3][3], const float input[1][16][14][13])
{
  if (polydl_reserve()) {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    float input_padded[1][16][16][15] __attribute__((aligned(64)));
    float (*input_padded_gathered)[182] = polydl_kept(0);
    float (*weights_flat)[16][9] = (void *)weights;
    float (*weights_flat_flat)[144] = (void *)weights;
    float (*output_flat)[32][182] = (void *)output;
    #pragma omp parallel for
    for (int input_padded_1 = 0; input_padded_1 <= 15; ++input_padded_1) {
      for (int input_padded_2 = 0; input_padded_2 <= 15; ++input_padded_2) {
        if ((input_padded_2 >= 1) && (input_padded_2 <= 14)) {
          input_padded[0][input_padded_1][input_padded_2][0] = 0.0f;
          input_padded[0][input_padded_1][input_padded_2][14] = 0.0f;
        } else if (input_padded_2 == 15) {
          #pragma omp simd
          for (int input_padded_3 = 0; input_padded_3 <= 14; ++input_padded_3) {
            input_padded[0][input_padded_1][15][input_padded_3] = 0.0f;
          }
        } else {
          #pragma omp simd
          for (int input_padded_3 = 0; input_padded_3 <= 14; ++input_padded_3) {
            input_padded[0][input_padded_1][0][input_padded_3] = 0.0f;
          }
        }
      }
    }
    polydl_between();
    #pragma omp parallel for
    for (int input_1 = 0; input_1 <= 15; ++input_1) {
      for (int input_2 = 0; input_2 <= 13; ++input_2) {
        #pragma omp simd
        for (int input_3 = 0; input_3 <= 12; ++input_3) {
          input_padded[0][input_1][input_2 + 1][input_3 + 1] = input[0][input_1][input_2][input_3];
        }
      }
    }
    polydl_between();
    #pragma omp parallel for
    for (int input_padded_0 = 0; input_padded_0 <= 15; ++input_padded_0) {
      for (int input_padded_1 = 0; input_padded_1 <= 2; ++input_padded_1) {
        for (int input_padded_2 = 0; input_padded_2 <= 2; ++input_padded_2) {
          for (int input_padded_3 = 0; input_padded_3 <= 13; ++input_padded_3) {
            #pragma omp simd
            for (int input_padded_4 = 0; input_padded_4 <= 12; ++input_padded_4) {
              input_padded_gathered[9 * input_padded_0 + 3 * input_padded_1 + input_padded_2][13 * input_padded_3 + input_padded_4] = input_padded[0][input_padded_0][input_padded_1 + input_padded_3][input_padded_2 + input_padded_4];
            }
          }
        }
      }
    }
    polydl_between();
    #pragma omp parallel for
    for (int k_t1 = 0; k_t1 <= 3; ++k_t1) {
      for (int y_x_t1 = 0; y_x_t1 <= 1; ++y_x_t1) {
        polydl_gemm4_run(&input_padded_gathered[0][96 * y_x_t1], &weights_flat_flat[8 * k_t1][0], &output_flat[0][8 * k_t1][96 * y_x_t1], y_x_t1 == 1, 0, 0, 1, 0 == 0);
      }
    }
    polydl_end(&polydl_call);
    polydl_leave();
  } else {
  for (int n = 0; n < 1; ++n)
    for (int k = 0; k < 32; ++k)
      for (int y = 0; y < 14; ++y)
        for (int x = 0; x < 13; ++x) {
          output[n][k][y][x] = 0.0f;
          for (int c = 0; c < 16; ++c)
            for (int r = 0; r < 3; ++r)
              for (int s = 0; s < 3; ++s) {
                int row = y + r - 1;
                int column = x + s - 1;
                if (row >= 0 && row < 14 && column >= 0 && column < 13)
                  output[n][k][y][x] += weights[k][c][r][s] * input[n][c][row][column];
              }
        }
  }
}
#undef conv_same

/* for all processors */
void conv_same(float output[1][32][14][13], const float weights[32][16][3][3], const float input[1][16][14][13])
{
  if (polydl_fits()) {
    polydl_tuned_conv_same(output, weights, input);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int n = 0; n < 1; ++n)
    for (int k = 0; k < 32; ++k)
      for (int y = 0; y < 14; ++y)
        for (int x = 0; x < 13; ++x) {
          output[n][k][y][x] = 0.0f;
          for (int c = 0; c < 16; ++c)
            for (int r = 0; r < 3; ++r)
              for (int s = 0; s < 3; ++s) {
                int row = y + r - 1;
                int column = x + s - 1;
                if (row >= 0 && row < 14 && column >= 0 && column < 13)
                  output[n][k][y][x] += weights[k][c][r][s] * input[n][c][row][column];
              }
        }
#endif
}
void conv_same_release(void);
void conv_same_release(void)
{
  if (polydl_enter()) {
    polydl_drop();
    polydl_leave();
  }
}
const char *conv_same_missing(void);
const char *conv_same_missing(void)
{
  return polydl_missing();
}
/* for this one */
