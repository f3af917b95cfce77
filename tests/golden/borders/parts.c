#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
static inline int polydl_min(int a, int b) { return a < b ? a : b; }

#define borders polydl_tuned_borders
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void borders(float out[9][11][32], const float w[3][3][32], const float in[9][11][32])
{
  {
    for (int polydl_c_strip = 0; polydl_c_strip <= 31; polydl_c_strip += 16) {
      #pragma omp simd simdlen(16)
      for (int c = polydl_c_strip; c <= polydl_c_strip + 15; ++c) {
        float polydl_scalar0;
        polydl_scalar0 = 0.0f;
        polydl_scalar0 += w[1][1][c] * in[0][0][c];
        polydl_scalar0 += w[1][2][c] * in[0][1][c];
        polydl_scalar0 += w[2][1][c] * in[1][0][c];
        polydl_scalar0 += w[2][2][c] * in[1][1][c];
        out[0][0][c] = polydl_scalar0;
      }
    }
    for (int polydl_c_strip = 0; polydl_c_strip <= 31; polydl_c_strip += 16) {
      #pragma omp simd simdlen(16)
      for (int c = polydl_c_strip; c <= polydl_c_strip + 15; ++c) {
        float polydl_scalar0_0;
        float polydl_scalar0_1;
        float polydl_scalar0_2;
        float polydl_scalar0_3;
        float polydl_scalar0_4;
        float polydl_scalar0_5;
        float polydl_scalar0_6;
        float polydl_scalar0_7;
        float polydl_scalar0_8;
        polydl_scalar0_0 = 0.0f;
        polydl_scalar0_1 = 0.0f;
        polydl_scalar0_2 = 0.0f;
        polydl_scalar0_3 = 0.0f;
        polydl_scalar0_4 = 0.0f;
        polydl_scalar0_5 = 0.0f;
        polydl_scalar0_6 = 0.0f;
        polydl_scalar0_7 = 0.0f;
        polydl_scalar0_8 = 0.0f;
        polydl_scalar0_0 += w[1][0][c] * in[0][0][c];
        polydl_scalar0_1 += w[1][0][c] * in[0][1][c];
        polydl_scalar0_2 += w[1][0][c] * in[0][2][c];
        polydl_scalar0_3 += w[1][0][c] * in[0][3][c];
        polydl_scalar0_4 += w[1][0][c] * in[0][4][c];
        polydl_scalar0_5 += w[1][0][c] * in[0][5][c];
        polydl_scalar0_6 += w[1][0][c] * in[0][6][c];
        polydl_scalar0_7 += w[1][0][c] * in[0][7][c];
        polydl_scalar0_8 += w[1][0][c] * in[0][8][c];
        polydl_scalar0_0 += w[1][1][c] * in[0][1][c];
        polydl_scalar0_1 += w[1][1][c] * in[0][2][c];
        polydl_scalar0_2 += w[1][1][c] * in[0][3][c];
        polydl_scalar0_3 += w[1][1][c] * in[0][4][c];
        polydl_scalar0_4 += w[1][1][c] * in[0][5][c];
        polydl_scalar0_5 += w[1][1][c] * in[0][6][c];
        polydl_scalar0_6 += w[1][1][c] * in[0][7][c];
        polydl_scalar0_7 += w[1][1][c] * in[0][8][c];
        polydl_scalar0_8 += w[1][1][c] * in[0][9][c];
        polydl_scalar0_0 += w[1][2][c] * in[0][2][c];
        polydl_scalar0_1 += w[1][2][c] * in[0][3][c];
        polydl_scalar0_2 += w[1][2][c] * in[0][4][c];
        polydl_scalar0_3 += w[1][2][c] * in[0][5][c];
        polydl_scalar0_4 += w[1][2][c] * in[0][6][c];
        polydl_scalar0_5 += w[1][2][c] * in[0][7][c];
        polydl_scalar0_6 += w[1][2][c] * in[0][8][c];
        polydl_scalar0_7 += w[1][2][c] * in[0][9][c];
        polydl_scalar0_8 += w[1][2][c] * in[0][10][c];
        polydl_scalar0_0 += w[2][0][c] * in[1][0][c];
        polydl_scalar0_1 += w[2][0][c] * in[1][1][c];
        polydl_scalar0_2 += w[2][0][c] * in[1][2][c];
        polydl_scalar0_3 += w[2][0][c] * in[1][3][c];
        polydl_scalar0_4 += w[2][0][c] * in[1][4][c];
        polydl_scalar0_5 += w[2][0][c] * in[1][5][c];
        polydl_scalar0_6 += w[2][0][c] * in[1][6][c];
        polydl_scalar0_7 += w[2][0][c] * in[1][7][c];
        polydl_scalar0_8 += w[2][0][c] * in[1][8][c];
        polydl_scalar0_0 += w[2][1][c] * in[1][1][c];
        polydl_scalar0_1 += w[2][1][c] * in[1][2][c];
        polydl_scalar0_2 += w[2][1][c] * in[1][3][c];
        polydl_scalar0_3 += w[2][1][c] * in[1][4][c];
        polydl_scalar0_4 += w[2][1][c] * in[1][5][c];
        polydl_scalar0_5 += w[2][1][c] * in[1][6][c];
        polydl_scalar0_6 += w[2][1][c] * in[1][7][c];
        polydl_scalar0_7 += w[2][1][c] * in[1][8][c];
        polydl_scalar0_8 += w[2][1][c] * in[1][9][c];
        polydl_scalar0_0 += w[2][2][c] * in[1][2][c];
        polydl_scalar0_1 += w[2][2][c] * in[1][3][c];
        polydl_scalar0_2 += w[2][2][c] * in[1][4][c];
        polydl_scalar0_3 += w[2][2][c] * in[1][5][c];
        polydl_scalar0_4 += w[2][2][c] * in[1][6][c];
        polydl_scalar0_5 += w[2][2][c] * in[1][7][c];
        polydl_scalar0_6 += w[2][2][c] * in[1][8][c];
        polydl_scalar0_7 += w[2][2][c] * in[1][9][c];
        polydl_scalar0_8 += w[2][2][c] * in[1][10][c];
        out[0][1][c] = polydl_scalar0_0;
        out[0][2][c] = polydl_scalar0_1;
        out[0][3][c] = polydl_scalar0_2;
        out[0][4][c] = polydl_scalar0_3;
        out[0][5][c] = polydl_scalar0_4;
        out[0][6][c] = polydl_scalar0_5;
        out[0][7][c] = polydl_scalar0_6;
        out[0][8][c] = polydl_scalar0_7;
        out[0][9][c] = polydl_scalar0_8;
      }
    }
    for (int polydl_c_strip = 0; polydl_c_strip <= 31; polydl_c_strip += 16) {
      #pragma omp simd simdlen(16)
      for (int c = polydl_c_strip; c <= polydl_c_strip + 15; ++c) {
        float polydl_scalar0;
        polydl_scalar0 = 0.0f;
        polydl_scalar0 += w[1][0][c] * in[0][9][c];
        polydl_scalar0 += w[1][1][c] * in[0][10][c];
        polydl_scalar0 += w[2][0][c] * in[1][9][c];
        polydl_scalar0 += w[2][1][c] * in[1][10][c];
        out[0][10][c] = polydl_scalar0;
      }
    }
    for (int polydl_c_strip = 0; polydl_c_strip <= 31; polydl_c_strip += 16) {
      #pragma omp simd simdlen(16)
      for (int c = polydl_c_strip; c <= polydl_c_strip + 15; ++c) {
        float polydl_scalar0_0;
        float polydl_scalar0_1;
        float polydl_scalar0_2;
        float polydl_scalar0_3;
        float polydl_scalar0_4;
        float polydl_scalar0_5;
        float polydl_scalar0_6;
        polydl_scalar0_0 = 0.0f;
        polydl_scalar0_1 = 0.0f;
        polydl_scalar0_2 = 0.0f;
        polydl_scalar0_3 = 0.0f;
        polydl_scalar0_4 = 0.0f;
        polydl_scalar0_5 = 0.0f;
        polydl_scalar0_6 = 0.0f;
        polydl_scalar0_0 += w[0][1][c] * in[0][0][c];
        polydl_scalar0_1 += w[0][1][c] * in[1][0][c];
        polydl_scalar0_2 += w[0][1][c] * in[2][0][c];
        polydl_scalar0_3 += w[0][1][c] * in[3][0][c];
        polydl_scalar0_4 += w[0][1][c] * in[4][0][c];
        polydl_scalar0_5 += w[0][1][c] * in[5][0][c];
        polydl_scalar0_6 += w[0][1][c] * in[6][0][c];
        polydl_scalar0_0 += w[1][1][c] * in[1][0][c];
        polydl_scalar0_1 += w[1][1][c] * in[2][0][c];
        polydl_scalar0_2 += w[1][1][c] * in[3][0][c];
        polydl_scalar0_3 += w[1][1][c] * in[4][0][c];
        polydl_scalar0_4 += w[1][1][c] * in[5][0][c];
        polydl_scalar0_5 += w[1][1][c] * in[6][0][c];
        polydl_scalar0_6 += w[1][1][c] * in[7][0][c];
        polydl_scalar0_0 += w[2][1][c] * in[2][0][c];
        polydl_scalar0_1 += w[2][1][c] * in[3][0][c];
        polydl_scalar0_2 += w[2][1][c] * in[4][0][c];
        polydl_scalar0_3 += w[2][1][c] * in[5][0][c];
        polydl_scalar0_4 += w[2][1][c] * in[6][0][c];
        polydl_scalar0_5 += w[2][1][c] * in[7][0][c];
        polydl_scalar0_6 += w[2][1][c] * in[8][0][c];
        polydl_scalar0_0 += w[0][2][c] * in[0][1][c];
        polydl_scalar0_1 += w[0][2][c] * in[1][1][c];
        polydl_scalar0_2 += w[0][2][c] * in[2][1][c];
        polydl_scalar0_3 += w[0][2][c] * in[3][1][c];
        polydl_scalar0_4 += w[0][2][c] * in[4][1][c];
        polydl_scalar0_5 += w[0][2][c] * in[5][1][c];
        polydl_scalar0_6 += w[0][2][c] * in[6][1][c];
        polydl_scalar0_0 += w[1][2][c] * in[1][1][c];
        polydl_scalar0_1 += w[1][2][c] * in[2][1][c];
        polydl_scalar0_2 += w[1][2][c] * in[3][1][c];
        polydl_scalar0_3 += w[1][2][c] * in[4][1][c];
        polydl_scalar0_4 += w[1][2][c] * in[5][1][c];
        polydl_scalar0_5 += w[1][2][c] * in[6][1][c];
        polydl_scalar0_6 += w[1][2][c] * in[7][1][c];
        polydl_scalar0_0 += w[2][2][c] * in[2][1][c];
        polydl_scalar0_1 += w[2][2][c] * in[3][1][c];
        polydl_scalar0_2 += w[2][2][c] * in[4][1][c];
        polydl_scalar0_3 += w[2][2][c] * in[5][1][c];
        polydl_scalar0_4 += w[2][2][c] * in[6][1][c];
        polydl_scalar0_5 += w[2][2][c] * in[7][1][c];
        polydl_scalar0_6 += w[2][2][c] * in[8][1][c];
        out[1][0][c] = polydl_scalar0_0;
        out[2][0][c] = polydl_scalar0_1;
        out[3][0][c] = polydl_scalar0_2;
        out[4][0][c] = polydl_scalar0_3;
        out[5][0][c] = polydl_scalar0_4;
        out[6][0][c] = polydl_scalar0_5;
        out[7][0][c] = polydl_scalar0_6;
      }
    }
    for (int y_t1 = 0; y_t1 <= 1; ++y_t1) {
      for (int x_t1 = 0; x_t1 <= 2; ++x_t1) {
        if (polydl_min(7, ((4 * y_t1) + 4)) - ((4 * y_t1) + 1) == 3) {
          for (int polydl_c_strip = 0; polydl_c_strip <= 31; polydl_c_strip += 16) {
            #pragma omp simd simdlen(16)
            for (int c = polydl_c_strip; c <= polydl_c_strip + 15; ++c) {
              float polydl_scalar0_0;
              float polydl_scalar0_1;
              float polydl_scalar0_2;
              float polydl_scalar0_3;
              float polydl_scalar0_4;
              float polydl_scalar0_5;
              float polydl_scalar0_6;
              float polydl_scalar0_7;
              float polydl_scalar0_8;
              float polydl_scalar0_9;
              float polydl_scalar0_10;
              float polydl_scalar0_11;
              polydl_scalar0_0 = 0.0f;
              polydl_scalar0_1 = 0.0f;
              polydl_scalar0_2 = 0.0f;
              polydl_scalar0_3 = 0.0f;
              polydl_scalar0_4 = 0.0f;
              polydl_scalar0_5 = 0.0f;
              polydl_scalar0_6 = 0.0f;
              polydl_scalar0_7 = 0.0f;
              polydl_scalar0_8 = 0.0f;
              polydl_scalar0_9 = 0.0f;
              polydl_scalar0_10 = 0.0f;
              polydl_scalar0_11 = 0.0f;
              polydl_scalar0_0 += w[0][0][c] * in[4 * y_t1][3 * x_t1][c];
              polydl_scalar0_1 += w[0][0][c] * in[4 * y_t1][3 * x_t1 + 1][c];
              polydl_scalar0_2 += w[0][0][c] * in[4 * y_t1][3 * x_t1 + 2][c];
              polydl_scalar0_3 += w[0][0][c] * in[4 * y_t1 + 1][3 * x_t1][c];
              polydl_scalar0_4 += w[0][0][c] * in[4 * y_t1 + 1][3 * x_t1 + 1][c];
              polydl_scalar0_5 += w[0][0][c] * in[4 * y_t1 + 1][3 * x_t1 + 2][c];
              polydl_scalar0_6 += w[0][0][c] * in[4 * y_t1 + 2][3 * x_t1][c];
              polydl_scalar0_7 += w[0][0][c] * in[4 * y_t1 + 2][3 * x_t1 + 1][c];
              polydl_scalar0_8 += w[0][0][c] * in[4 * y_t1 + 2][3 * x_t1 + 2][c];
              polydl_scalar0_9 += w[0][0][c] * in[4 * y_t1 + 3][3 * x_t1][c];
              polydl_scalar0_10 += w[0][0][c] * in[4 * y_t1 + 3][3 * x_t1 + 1][c];
              polydl_scalar0_11 += w[0][0][c] * in[4 * y_t1 + 3][3 * x_t1 + 2][c];
              polydl_scalar0_0 += w[0][1][c] * in[4 * y_t1][3 * x_t1 + 1][c];
              polydl_scalar0_1 += w[0][1][c] * in[4 * y_t1][3 * x_t1 + 2][c];
              polydl_scalar0_2 += w[0][1][c] * in[4 * y_t1][3 * x_t1 + 3][c];
              polydl_scalar0_3 += w[0][1][c] * in[4 * y_t1 + 1][3 * x_t1 + 1][c];
              polydl_scalar0_4 += w[0][1][c] * in[4 * y_t1 + 1][3 * x_t1 + 2][c];
              polydl_scalar0_5 += w[0][1][c] * in[4 * y_t1 + 1][3 * x_t1 + 3][c];
              polydl_scalar0_6 += w[0][1][c] * in[4 * y_t1 + 2][3 * x_t1 + 1][c];
              polydl_scalar0_7 += w[0][1][c] * in[4 * y_t1 + 2][3 * x_t1 + 2][c];
              polydl_scalar0_8 += w[0][1][c] * in[4 * y_t1 + 2][3 * x_t1 + 3][c];
              polydl_scalar0_9 += w[0][1][c] * in[4 * y_t1 + 3][3 * x_t1 + 1][c];
              polydl_scalar0_10 += w[0][1][c] * in[4 * y_t1 + 3][3 * x_t1 + 2][c];
              polydl_scalar0_11 += w[0][1][c] * in[4 * y_t1 + 3][3 * x_t1 + 3][c];
              polydl_scalar0_0 += w[0][2][c] * in[4 * y_t1][3 * x_t1 + 2][c];
              polydl_scalar0_1 += w[0][2][c] * in[4 * y_t1][3 * x_t1 + 3][c];
              polydl_scalar0_2 += w[0][2][c] * in[4 * y_t1][3 * x_t1 + 4][c];
              polydl_scalar0_3 += w[0][2][c] * in[4 * y_t1 + 1][3 * x_t1 + 2][c];
              polydl_scalar0_4 += w[0][2][c] * in[4 * y_t1 + 1][3 * x_t1 + 3][c];
              polydl_scalar0_5 += w[0][2][c] * in[4 * y_t1 + 1][3 * x_t1 + 4][c];
              polydl_scalar0_6 += w[0][2][c] * in[4 * y_t1 + 2][3 * x_t1 + 2][c];
              polydl_scalar0_7 += w[0][2][c] * in[4 * y_t1 + 2][3 * x_t1 + 3][c];
              polydl_scalar0_8 += w[0][2][c] * in[4 * y_t1 + 2][3 * x_t1 + 4][c];
              polydl_scalar0_9 += w[0][2][c] * in[4 * y_t1 + 3][3 * x_t1 + 2][c];
              polydl_scalar0_10 += w[0][2][c] * in[4 * y_t1 + 3][3 * x_t1 + 3][c];
              polydl_scalar0_11 += w[0][2][c] * in[4 * y_t1 + 3][3 * x_t1 + 4][c];
              polydl_scalar0_0 += w[1][0][c] * in[4 * y_t1 + 1][3 * x_t1][c];
              polydl_scalar0_1 += w[1][0][c] * in[4 * y_t1 + 1][3 * x_t1 + 1][c];
              polydl_scalar0_2 += w[1][0][c] * in[4 * y_t1 + 1][3 * x_t1 + 2][c];
              polydl_scalar0_3 += w[1][0][c] * in[4 * y_t1 + 2][3 * x_t1][c];
              polydl_scalar0_4 += w[1][0][c] * in[4 * y_t1 + 2][3 * x_t1 + 1][c];
              polydl_scalar0_5 += w[1][0][c] * in[4 * y_t1 + 2][3 * x_t1 + 2][c];
              polydl_scalar0_6 += w[1][0][c] * in[4 * y_t1 + 3][3 * x_t1][c];
              polydl_scalar0_7 += w[1][0][c] * in[4 * y_t1 + 3][3 * x_t1 + 1][c];
              polydl_scalar0_8 += w[1][0][c] * in[4 * y_t1 + 3][3 * x_t1 + 2][c];
              polydl_scalar0_9 += w[1][0][c] * in[4 * y_t1 + 4][3 * x_t1][c];
              polydl_scalar0_10 += w[1][0][c] * in[4 * y_t1 + 4][3 * x_t1 + 1][c];
              polydl_scalar0_11 += w[1][0][c] * in[4 * y_t1 + 4][3 * x_t1 + 2][c];
              polydl_scalar0_0 += w[1][1][c] * in[4 * y_t1 + 1][3 * x_t1 + 1][c];
              polydl_scalar0_1 += w[1][1][c] * in[4 * y_t1 + 1][3 * x_t1 + 2][c];
              polydl_scalar0_2 += w[1][1][c] * in[4 * y_t1 + 1][3 * x_t1 + 3][c];
              polydl_scalar0_3 += w[1][1][c] * in[4 * y_t1 + 2][3 * x_t1 + 1][c];
              polydl_scalar0_4 += w[1][1][c] * in[4 * y_t1 + 2][3 * x_t1 + 2][c];
              polydl_scalar0_5 += w[1][1][c] * in[4 * y_t1 + 2][3 * x_t1 + 3][c];
              polydl_scalar0_6 += w[1][1][c] * in[4 * y_t1 + 3][3 * x_t1 + 1][c];
              polydl_scalar0_7 += w[1][1][c] * in[4 * y_t1 + 3][3 * x_t1 + 2][c];
              polydl_scalar0_8 += w[1][1][c] * in[4 * y_t1 + 3][3 * x_t1 + 3][c];
              polydl_scalar0_9 += w[1][1][c] * in[4 * y_t1 + 4][3 * x_t1 + 1][c];
              polydl_scalar0_10 += w[1][1][c] * in[4 * y_t1 + 4][3 * x_t1 + 2][c];
              polydl_scalar0_11 += w[1][1][c] * in[4 * y_t1 + 4][3 * x_t1 + 3][c];
              polydl_scalar0_0 += w[1][2][c] * in[4 * y_t1 + 1][3 * x_t1 + 2][c];
              polydl_scalar0_1 += w[1][2][c] * in[4 * y_t1 + 1][3 * x_t1 + 3][c];
              polydl_scalar0_2 += w[1][2][c] * in[4 * y_t1 + 1][3 * x_t1 + 4][c];
              polydl_scalar0_3 += w[1][2][c] * in[4 * y_t1 + 2][3 * x_t1 + 2][c];
              polydl_scalar0_4 += w[1][2][c] * in[4 * y_t1 + 2][3 * x_t1 + 3][c];
              polydl_scalar0_5 += w[1][2][c] * in[4 * y_t1 + 2][3 * x_t1 + 4][c];
              polydl_scalar0_6 += w[1][2][c] * in[4 * y_t1 + 3][3 * x_t1 + 2][c];
              polydl_scalar0_7 += w[1][2][c] * in[4 * y_t1 + 3][3 * x_t1 + 3][c];
              polydl_scalar0_8 += w[1][2][c] * in[4 * y_t1 + 3][3 * x_t1 + 4][c];
              polydl_scalar0_9 += w[1][2][c] * in[4 * y_t1 + 4][3 * x_t1 + 2][c];
              polydl_scalar0_10 += w[1][2][c] * in[4 * y_t1 + 4][3 * x_t1 + 3][c];
              polydl_scalar0_11 += w[1][2][c] * in[4 * y_t1 + 4][3 * x_t1 + 4][c];
              polydl_scalar0_0 += w[2][0][c] * in[4 * y_t1 + 2][3 * x_t1][c];
              polydl_scalar0_1 += w[2][0][c] * in[4 * y_t1 + 2][3 * x_t1 + 1][c];
              polydl_scalar0_2 += w[2][0][c] * in[4 * y_t1 + 2][3 * x_t1 + 2][c];
              polydl_scalar0_3 += w[2][0][c] * in[4 * y_t1 + 3][3 * x_t1][c];
              polydl_scalar0_4 += w[2][0][c] * in[4 * y_t1 + 3][3 * x_t1 + 1][c];
              polydl_scalar0_5 += w[2][0][c] * in[4 * y_t1 + 3][3 * x_t1 + 2][c];
              polydl_scalar0_6 += w[2][0][c] * in[4 * y_t1 + 4][3 * x_t1][c];
              polydl_scalar0_7 += w[2][0][c] * in[4 * y_t1 + 4][3 * x_t1 + 1][c];
              polydl_scalar0_8 += w[2][0][c] * in[4 * y_t1 + 4][3 * x_t1 + 2][c];
              polydl_scalar0_9 += w[2][0][c] * in[4 * y_t1 + 5][3 * x_t1][c];
              polydl_scalar0_10 += w[2][0][c] * in[4 * y_t1 + 5][3 * x_t1 + 1][c];
              polydl_scalar0_11 += w[2][0][c] * in[4 * y_t1 + 5][3 * x_t1 + 2][c];
              polydl_scalar0_0 += w[2][1][c] * in[4 * y_t1 + 2][3 * x_t1 + 1][c];
              polydl_scalar0_1 += w[2][1][c] * in[4 * y_t1 + 2][3 * x_t1 + 2][c];
              polydl_scalar0_2 += w[2][1][c] * in[4 * y_t1 + 2][3 * x_t1 + 3][c];
              polydl_scalar0_3 += w[2][1][c] * in[4 * y_t1 + 3][3 * x_t1 + 1][c];
              polydl_scalar0_4 += w[2][1][c] * in[4 * y_t1 + 3][3 * x_t1 + 2][c];
              polydl_scalar0_5 += w[2][1][c] * in[4 * y_t1 + 3][3 * x_t1 + 3][c];
              polydl_scalar0_6 += w[2][1][c] * in[4 * y_t1 + 4][3 * x_t1 + 1][c];
              polydl_scalar0_7 += w[2][1][c] * in[4 * y_t1 + 4][3 * x_t1 + 2][c];
              polydl_scalar0_8 += w[2][1][c] * in[4 * y_t1 + 4][3 * x_t1 + 3][c];
              polydl_scalar0_9 += w[2][1][c] * in[4 * y_t1 + 5][3 * x_t1 + 1][c];
              polydl_scalar0_10 += w[2][1][c] * in[4 * y_t1 + 5][3 * x_t1 + 2][c];
              polydl_scalar0_11 += w[2][1][c] * in[4 * y_t1 + 5][3 * x_t1 + 3][c];
              polydl_scalar0_0 += w[2][2][c] * in[4 * y_t1 + 2][3 * x_t1 + 2][c];
              polydl_scalar0_1 += w[2][2][c] * in[4 * y_t1 + 2][3 * x_t1 + 3][c];
              polydl_scalar0_2 += w[2][2][c] * in[4 * y_t1 + 2][3 * x_t1 + 4][c];
              polydl_scalar0_3 += w[2][2][c] * in[4 * y_t1 + 3][3 * x_t1 + 2][c];
              polydl_scalar0_4 += w[2][2][c] * in[4 * y_t1 + 3][3 * x_t1 + 3][c];
              polydl_scalar0_5 += w[2][2][c] * in[4 * y_t1 + 3][3 * x_t1 + 4][c];
              polydl_scalar0_6 += w[2][2][c] * in[4 * y_t1 + 4][3 * x_t1 + 2][c];
              polydl_scalar0_7 += w[2][2][c] * in[4 * y_t1 + 4][3 * x_t1 + 3][c];
              polydl_scalar0_8 += w[2][2][c] * in[4 * y_t1 + 4][3 * x_t1 + 4][c];
              polydl_scalar0_9 += w[2][2][c] * in[4 * y_t1 + 5][3 * x_t1 + 2][c];
              polydl_scalar0_10 += w[2][2][c] * in[4 * y_t1 + 5][3 * x_t1 + 3][c];
              polydl_scalar0_11 += w[2][2][c] * in[4 * y_t1 + 5][3 * x_t1 + 4][c];
              out[4 * y_t1 + 1][3 * x_t1 + 1][c] = polydl_scalar0_0;
              out[4 * y_t1 + 1][3 * x_t1 + 2][c] = polydl_scalar0_1;
              out[4 * y_t1 + 1][3 * x_t1 + 3][c] = polydl_scalar0_2;
              out[4 * y_t1 + 2][3 * x_t1 + 1][c] = polydl_scalar0_3;
              out[4 * y_t1 + 2][3 * x_t1 + 2][c] = polydl_scalar0_4;
              out[4 * y_t1 + 2][3 * x_t1 + 3][c] = polydl_scalar0_5;
              out[4 * y_t1 + 3][3 * x_t1 + 1][c] = polydl_scalar0_6;
              out[4 * y_t1 + 3][3 * x_t1 + 2][c] = polydl_scalar0_7;
              out[4 * y_t1 + 3][3 * x_t1 + 3][c] = polydl_scalar0_8;
              out[4 * y_t1 + 4][3 * x_t1 + 1][c] = polydl_scalar0_9;
              out[4 * y_t1 + 4][3 * x_t1 + 2][c] = polydl_scalar0_10;
              out[4 * y_t1 + 4][3 * x_t1 + 3][c] = polydl_scalar0_11;
            }
          }
        } else {
          for (int polydl_c_strip = 0; polydl_c_strip <= 31; polydl_c_strip += 16) {
            #pragma omp simd simdlen(16)
            for (int c = polydl_c_strip; c <= polydl_c_strip + 15; ++c) {
              float polydl_scalar0_0;
              float polydl_scalar0_1;
              float polydl_scalar0_2;
              float polydl_scalar0_3;
              float polydl_scalar0_4;
              float polydl_scalar0_5;
              float polydl_scalar0_6;
              float polydl_scalar0_7;
              float polydl_scalar0_8;
              polydl_scalar0_0 = 0.0f;
              polydl_scalar0_1 = 0.0f;
              polydl_scalar0_2 = 0.0f;
              polydl_scalar0_3 = 0.0f;
              polydl_scalar0_4 = 0.0f;
              polydl_scalar0_5 = 0.0f;
              polydl_scalar0_6 = 0.0f;
              polydl_scalar0_7 = 0.0f;
              polydl_scalar0_8 = 0.0f;
              polydl_scalar0_0 += w[0][0][c] * in[4 * y_t1][3 * x_t1][c];
              polydl_scalar0_1 += w[0][0][c] * in[4 * y_t1][3 * x_t1 + 1][c];
              polydl_scalar0_2 += w[0][0][c] * in[4 * y_t1][3 * x_t1 + 2][c];
              polydl_scalar0_3 += w[0][0][c] * in[4 * y_t1 + 1][3 * x_t1][c];
              polydl_scalar0_4 += w[0][0][c] * in[4 * y_t1 + 1][3 * x_t1 + 1][c];
              polydl_scalar0_5 += w[0][0][c] * in[4 * y_t1 + 1][3 * x_t1 + 2][c];
              polydl_scalar0_6 += w[0][0][c] * in[4 * y_t1 + 2][3 * x_t1][c];
              polydl_scalar0_7 += w[0][0][c] * in[4 * y_t1 + 2][3 * x_t1 + 1][c];
              polydl_scalar0_8 += w[0][0][c] * in[4 * y_t1 + 2][3 * x_t1 + 2][c];
              polydl_scalar0_0 += w[0][1][c] * in[4 * y_t1][3 * x_t1 + 1][c];
              polydl_scalar0_1 += w[0][1][c] * in[4 * y_t1][3 * x_t1 + 2][c];
              polydl_scalar0_2 += w[0][1][c] * in[4 * y_t1][3 * x_t1 + 3][c];
              polydl_scalar0_3 += w[0][1][c] * in[4 * y_t1 + 1][3 * x_t1 + 1][c];
              polydl_scalar0_4 += w[0][1][c] * in[4 * y_t1 + 1][3 * x_t1 + 2][c];
              polydl_scalar0_5 += w[0][1][c] * in[4 * y_t1 + 1][3 * x_t1 + 3][c];
              polydl_scalar0_6 += w[0][1][c] * in[4 * y_t1 + 2][3 * x_t1 + 1][c];
              polydl_scalar0_7 += w[0][1][c] * in[4 * y_t1 + 2][3 * x_t1 + 2][c];
              polydl_scalar0_8 += w[0][1][c] * in[4 * y_t1 + 2][3 * x_t1 + 3][c];
              polydl_scalar0_0 += w[0][2][c] * in[4 * y_t1][3 * x_t1 + 2][c];
              polydl_scalar0_1 += w[0][2][c] * in[4 * y_t1][3 * x_t1 + 3][c];
              polydl_scalar0_2 += w[0][2][c] * in[4 * y_t1][3 * x_t1 + 4][c];
              polydl_scalar0_3 += w[0][2][c] * in[4 * y_t1 + 1][3 * x_t1 + 2][c];
              polydl_scalar0_4 += w[0][2][c] * in[4 * y_t1 + 1][3 * x_t1 + 3][c];
              polydl_scalar0_5 += w[0][2][c] * in[4 * y_t1 + 1][3 * x_t1 + 4][c];
              polydl_scalar0_6 += w[0][2][c] * in[4 * y_t1 + 2][3 * x_t1 + 2][c];
              polydl_scalar0_7 += w[0][2][c] * in[4 * y_t1 + 2][3 * x_t1 + 3][c];
              polydl_scalar0_8 += w[0][2][c] * in[4 * y_t1 + 2][3 * x_t1 + 4][c];
              polydl_scalar0_0 += w[1][0][c] * in[4 * y_t1 + 1][3 * x_t1][c];
              polydl_scalar0_1 += w[1][0][c] * in[4 * y_t1 + 1][3 * x_t1 + 1][c];
              polydl_scalar0_2 += w[1][0][c] * in[4 * y_t1 + 1][3 * x_t1 + 2][c];
              polydl_scalar0_3 += w[1][0][c] * in[4 * y_t1 + 2][3 * x_t1][c];
              polydl_scalar0_4 += w[1][0][c] * in[4 * y_t1 + 2][3 * x_t1 + 1][c];
              polydl_scalar0_5 += w[1][0][c] * in[4 * y_t1 + 2][3 * x_t1 + 2][c];
              polydl_scalar0_6 += w[1][0][c] * in[4 * y_t1 + 3][3 * x_t1][c];
              polydl_scalar0_7 += w[1][0][c] * in[4 * y_t1 + 3][3 * x_t1 + 1][c];
              polydl_scalar0_8 += w[1][0][c] * in[4 * y_t1 + 3][3 * x_t1 + 2][c];
              polydl_scalar0_0 += w[1][1][c] * in[4 * y_t1 + 1][3 * x_t1 + 1][c];
              polydl_scalar0_1 += w[1][1][c] * in[4 * y_t1 + 1][3 * x_t1 + 2][c];
              polydl_scalar0_2 += w[1][1][c] * in[4 * y_t1 + 1][3 * x_t1 + 3][c];
              polydl_scalar0_3 += w[1][1][c] * in[4 * y_t1 + 2][3 * x_t1 + 1][c];
              polydl_scalar0_4 += w[1][1][c] * in[4 * y_t1 + 2][3 * x_t1 + 2][c];
              polydl_scalar0_5 += w[1][1][c] * in[4 * y_t1 + 2][3 * x_t1 + 3][c];
              polydl_scalar0_6 += w[1][1][c] * in[4 * y_t1 + 3][3 * x_t1 + 1][c];
              polydl_scalar0_7 += w[1][1][c] * in[4 * y_t1 + 3][3 * x_t1 + 2][c];
              polydl_scalar0_8 += w[1][1][c] * in[4 * y_t1 + 3][3 * x_t1 + 3][c];
              polydl_scalar0_0 += w[1][2][c] * in[4 * y_t1 + 1][3 * x_t1 + 2][c];
              polydl_scalar0_1 += w[1][2][c] * in[4 * y_t1 + 1][3 * x_t1 + 3][c];
              polydl_scalar0_2 += w[1][2][c] * in[4 * y_t1 + 1][3 * x_t1 + 4][c];
              polydl_scalar0_3 += w[1][2][c] * in[4 * y_t1 + 2][3 * x_t1 + 2][c];
              polydl_scalar0_4 += w[1][2][c] * in[4 * y_t1 + 2][3 * x_t1 + 3][c];
              polydl_scalar0_5 += w[1][2][c] * in[4 * y_t1 + 2][3 * x_t1 + 4][c];
              polydl_scalar0_6 += w[1][2][c] * in[4 * y_t1 + 3][3 * x_t1 + 2][c];
              polydl_scalar0_7 += w[1][2][c] * in[4 * y_t1 + 3][3 * x_t1 + 3][c];
              polydl_scalar0_8 += w[1][2][c] * in[4 * y_t1 + 3][3 * x_t1 + 4][c];
              polydl_scalar0_0 += w[2][0][c] * in[4 * y_t1 + 2][3 * x_t1][c];
              polydl_scalar0_1 += w[2][0][c] * in[4 * y_t1 + 2][3 * x_t1 + 1][c];
              polydl_scalar0_2 += w[2][0][c] * in[4 * y_t1 + 2][3 * x_t1 + 2][c];
              polydl_scalar0_3 += w[2][0][c] * in[4 * y_t1 + 3][3 * x_t1][c];
              polydl_scalar0_4 += w[2][0][c] * in[4 * y_t1 + 3][3 * x_t1 + 1][c];
              polydl_scalar0_5 += w[2][0][c] * in[4 * y_t1 + 3][3 * x_t1 + 2][c];
              polydl_scalar0_6 += w[2][0][c] * in[4 * y_t1 + 4][3 * x_t1][c];
              polydl_scalar0_7 += w[2][0][c] * in[4 * y_t1 + 4][3 * x_t1 + 1][c];
              polydl_scalar0_8 += w[2][0][c] * in[4 * y_t1 + 4][3 * x_t1 + 2][c];
              polydl_scalar0_0 += w[2][1][c] * in[4 * y_t1 + 2][3 * x_t1 + 1][c];
              polydl_scalar0_1 += w[2][1][c] * in[4 * y_t1 + 2][3 * x_t1 + 2][c];
              polydl_scalar0_2 += w[2][1][c] * in[4 * y_t1 + 2][3 * x_t1 + 3][c];
              polydl_scalar0_3 += w[2][1][c] * in[4 * y_t1 + 3][3 * x_t1 + 1][c];
              polydl_scalar0_4 += w[2][1][c] * in[4 * y_t1 + 3][3 * x_t1 + 2][c];
              polydl_scalar0_5 += w[2][1][c] * in[4 * y_t1 + 3][3 * x_t1 + 3][c];
              polydl_scalar0_6 += w[2][1][c] * in[4 * y_t1 + 4][3 * x_t1 + 1][c];
              polydl_scalar0_7 += w[2][1][c] * in[4 * y_t1 + 4][3 * x_t1 + 2][c];
              polydl_scalar0_8 += w[2][1][c] * in[4 * y_t1 + 4][3 * x_t1 + 3][c];
              polydl_scalar0_0 += w[2][2][c] * in[4 * y_t1 + 2][3 * x_t1 + 2][c];
              polydl_scalar0_1 += w[2][2][c] * in[4 * y_t1 + 2][3 * x_t1 + 3][c];
              polydl_scalar0_2 += w[2][2][c] * in[4 * y_t1 + 2][3 * x_t1 + 4][c];
              polydl_scalar0_3 += w[2][2][c] * in[4 * y_t1 + 3][3 * x_t1 + 2][c];
              polydl_scalar0_4 += w[2][2][c] * in[4 * y_t1 + 3][3 * x_t1 + 3][c];
              polydl_scalar0_5 += w[2][2][c] * in[4 * y_t1 + 3][3 * x_t1 + 4][c];
              polydl_scalar0_6 += w[2][2][c] * in[4 * y_t1 + 4][3 * x_t1 + 2][c];
              polydl_scalar0_7 += w[2][2][c] * in[4 * y_t1 + 4][3 * x_t1 + 3][c];
              polydl_scalar0_8 += w[2][2][c] * in[4 * y_t1 + 4][3 * x_t1 + 4][c];
              out[4 * y_t1 + 1][3 * x_t1 + 1][c] = polydl_scalar0_0;
              out[4 * y_t1 + 1][3 * x_t1 + 2][c] = polydl_scalar0_1;
              out[4 * y_t1 + 1][3 * x_t1 + 3][c] = polydl_scalar0_2;
              out[4 * y_t1 + 2][3 * x_t1 + 1][c] = polydl_scalar0_3;
              out[4 * y_t1 + 2][3 * x_t1 + 2][c] = polydl_scalar0_4;
              out[4 * y_t1 + 2][3 * x_t1 + 3][c] = polydl_scalar0_5;
              out[4 * y_t1 + 3][3 * x_t1 + 1][c] = polydl_scalar0_6;
              out[4 * y_t1 + 3][3 * x_t1 + 2][c] = polydl_scalar0_7;
              out[4 * y_t1 + 3][3 * x_t1 + 3][c] = polydl_scalar0_8;
            }
          }
        }
      }
    }
    for (int polydl_c_strip = 0; polydl_c_strip <= 31; polydl_c_strip += 16) {
      #pragma omp simd simdlen(16)
      for (int c = polydl_c_strip; c <= polydl_c_strip + 15; ++c) {
        float polydl_scalar0_0;
        float polydl_scalar0_1;
        float polydl_scalar0_2;
        float polydl_scalar0_3;
        float polydl_scalar0_4;
        float polydl_scalar0_5;
        float polydl_scalar0_6;
        polydl_scalar0_0 = 0.0f;
        polydl_scalar0_1 = 0.0f;
        polydl_scalar0_2 = 0.0f;
        polydl_scalar0_3 = 0.0f;
        polydl_scalar0_4 = 0.0f;
        polydl_scalar0_5 = 0.0f;
        polydl_scalar0_6 = 0.0f;
        polydl_scalar0_0 += w[0][0][c] * in[0][9][c];
        polydl_scalar0_1 += w[0][0][c] * in[1][9][c];
        polydl_scalar0_2 += w[0][0][c] * in[2][9][c];
        polydl_scalar0_3 += w[0][0][c] * in[3][9][c];
        polydl_scalar0_4 += w[0][0][c] * in[4][9][c];
        polydl_scalar0_5 += w[0][0][c] * in[5][9][c];
        polydl_scalar0_6 += w[0][0][c] * in[6][9][c];
        polydl_scalar0_0 += w[1][0][c] * in[1][9][c];
        polydl_scalar0_1 += w[1][0][c] * in[2][9][c];
        polydl_scalar0_2 += w[1][0][c] * in[3][9][c];
        polydl_scalar0_3 += w[1][0][c] * in[4][9][c];
        polydl_scalar0_4 += w[1][0][c] * in[5][9][c];
        polydl_scalar0_5 += w[1][0][c] * in[6][9][c];
        polydl_scalar0_6 += w[1][0][c] * in[7][9][c];
        polydl_scalar0_0 += w[2][0][c] * in[2][9][c];
        polydl_scalar0_1 += w[2][0][c] * in[3][9][c];
        polydl_scalar0_2 += w[2][0][c] * in[4][9][c];
        polydl_scalar0_3 += w[2][0][c] * in[5][9][c];
        polydl_scalar0_4 += w[2][0][c] * in[6][9][c];
        polydl_scalar0_5 += w[2][0][c] * in[7][9][c];
        polydl_scalar0_6 += w[2][0][c] * in[8][9][c];
        polydl_scalar0_0 += w[0][1][c] * in[0][10][c];
        polydl_scalar0_1 += w[0][1][c] * in[1][10][c];
        polydl_scalar0_2 += w[0][1][c] * in[2][10][c];
        polydl_scalar0_3 += w[0][1][c] * in[3][10][c];
        polydl_scalar0_4 += w[0][1][c] * in[4][10][c];
        polydl_scalar0_5 += w[0][1][c] * in[5][10][c];
        polydl_scalar0_6 += w[0][1][c] * in[6][10][c];
        polydl_scalar0_0 += w[1][1][c] * in[1][10][c];
        polydl_scalar0_1 += w[1][1][c] * in[2][10][c];
        polydl_scalar0_2 += w[1][1][c] * in[3][10][c];
        polydl_scalar0_3 += w[1][1][c] * in[4][10][c];
        polydl_scalar0_4 += w[1][1][c] * in[5][10][c];
        polydl_scalar0_5 += w[1][1][c] * in[6][10][c];
        polydl_scalar0_6 += w[1][1][c] * in[7][10][c];
        polydl_scalar0_0 += w[2][1][c] * in[2][10][c];
        polydl_scalar0_1 += w[2][1][c] * in[3][10][c];
        polydl_scalar0_2 += w[2][1][c] * in[4][10][c];
        polydl_scalar0_3 += w[2][1][c] * in[5][10][c];
        polydl_scalar0_4 += w[2][1][c] * in[6][10][c];
        polydl_scalar0_5 += w[2][1][c] * in[7][10][c];
        polydl_scalar0_6 += w[2][1][c] * in[8][10][c];
        out[1][10][c] = polydl_scalar0_0;
        out[2][10][c] = polydl_scalar0_1;
        out[3][10][c] = polydl_scalar0_2;
        out[4][10][c] = polydl_scalar0_3;
        out[5][10][c] = polydl_scalar0_4;
        out[6][10][c] = polydl_scalar0_5;
        out[7][10][c] = polydl_scalar0_6;
      }
    }
    for (int polydl_c_strip = 0; polydl_c_strip <= 31; polydl_c_strip += 16) {
      #pragma omp simd simdlen(16)
      for (int c = polydl_c_strip; c <= polydl_c_strip + 15; ++c) {
        float polydl_scalar0;
        polydl_scalar0 = 0.0f;
        polydl_scalar0 += w[0][1][c] * in[7][0][c];
        polydl_scalar0 += w[0][2][c] * in[7][1][c];
        polydl_scalar0 += w[1][1][c] * in[8][0][c];
        polydl_scalar0 += w[1][2][c] * in[8][1][c];
        out[8][0][c] = polydl_scalar0;
      }
    }
    for (int polydl_c_strip = 0; polydl_c_strip <= 31; polydl_c_strip += 16) {
      #pragma omp simd simdlen(16)
      for (int c = polydl_c_strip; c <= polydl_c_strip + 15; ++c) {
        float polydl_scalar0_0;
        float polydl_scalar0_1;
        float polydl_scalar0_2;
        float polydl_scalar0_3;
        float polydl_scalar0_4;
        float polydl_scalar0_5;
        float polydl_scalar0_6;
        float polydl_scalar0_7;
        float polydl_scalar0_8;
        polydl_scalar0_0 = 0.0f;
        polydl_scalar0_1 = 0.0f;
        polydl_scalar0_2 = 0.0f;
        polydl_scalar0_3 = 0.0f;
        polydl_scalar0_4 = 0.0f;
        polydl_scalar0_5 = 0.0f;
        polydl_scalar0_6 = 0.0f;
        polydl_scalar0_7 = 0.0f;
        polydl_scalar0_8 = 0.0f;
        polydl_scalar0_0 += w[0][0][c] * in[7][0][c];
        polydl_scalar0_1 += w[0][0][c] * in[7][1][c];
        polydl_scalar0_2 += w[0][0][c] * in[7][2][c];
        polydl_scalar0_3 += w[0][0][c] * in[7][3][c];
        polydl_scalar0_4 += w[0][0][c] * in[7][4][c];
        polydl_scalar0_5 += w[0][0][c] * in[7][5][c];
        polydl_scalar0_6 += w[0][0][c] * in[7][6][c];
        polydl_scalar0_7 += w[0][0][c] * in[7][7][c];
        polydl_scalar0_8 += w[0][0][c] * in[7][8][c];
        polydl_scalar0_0 += w[0][1][c] * in[7][1][c];
        polydl_scalar0_1 += w[0][1][c] * in[7][2][c];
        polydl_scalar0_2 += w[0][1][c] * in[7][3][c];
        polydl_scalar0_3 += w[0][1][c] * in[7][4][c];
        polydl_scalar0_4 += w[0][1][c] * in[7][5][c];
        polydl_scalar0_5 += w[0][1][c] * in[7][6][c];
        polydl_scalar0_6 += w[0][1][c] * in[7][7][c];
        polydl_scalar0_7 += w[0][1][c] * in[7][8][c];
        polydl_scalar0_8 += w[0][1][c] * in[7][9][c];
        polydl_scalar0_0 += w[0][2][c] * in[7][2][c];
        polydl_scalar0_1 += w[0][2][c] * in[7][3][c];
        polydl_scalar0_2 += w[0][2][c] * in[7][4][c];
        polydl_scalar0_3 += w[0][2][c] * in[7][5][c];
        polydl_scalar0_4 += w[0][2][c] * in[7][6][c];
        polydl_scalar0_5 += w[0][2][c] * in[7][7][c];
        polydl_scalar0_6 += w[0][2][c] * in[7][8][c];
        polydl_scalar0_7 += w[0][2][c] * in[7][9][c];
        polydl_scalar0_8 += w[0][2][c] * in[7][10][c];
        polydl_scalar0_0 += w[1][0][c] * in[8][0][c];
        polydl_scalar0_1 += w[1][0][c] * in[8][1][c];
        polydl_scalar0_2 += w[1][0][c] * in[8][2][c];
        polydl_scalar0_3 += w[1][0][c] * in[8][3][c];
        polydl_scalar0_4 += w[1][0][c] * in[8][4][c];
        polydl_scalar0_5 += w[1][0][c] * in[8][5][c];
        polydl_scalar0_6 += w[1][0][c] * in[8][6][c];
        polydl_scalar0_7 += w[1][0][c] * in[8][7][c];
        polydl_scalar0_8 += w[1][0][c] * in[8][8][c];
        polydl_scalar0_0 += w[1][1][c] * in[8][1][c];
        polydl_scalar0_1 += w[1][1][c] * in[8][2][c];
        polydl_scalar0_2 += w[1][1][c] * in[8][3][c];
        polydl_scalar0_3 += w[1][1][c] * in[8][4][c];
        polydl_scalar0_4 += w[1][1][c] * in[8][5][c];
        polydl_scalar0_5 += w[1][1][c] * in[8][6][c];
        polydl_scalar0_6 += w[1][1][c] * in[8][7][c];
        polydl_scalar0_7 += w[1][1][c] * in[8][8][c];
        polydl_scalar0_8 += w[1][1][c] * in[8][9][c];
        polydl_scalar0_0 += w[1][2][c] * in[8][2][c];
        polydl_scalar0_1 += w[1][2][c] * in[8][3][c];
        polydl_scalar0_2 += w[1][2][c] * in[8][4][c];
        polydl_scalar0_3 += w[1][2][c] * in[8][5][c];
        polydl_scalar0_4 += w[1][2][c] * in[8][6][c];
        polydl_scalar0_5 += w[1][2][c] * in[8][7][c];
        polydl_scalar0_6 += w[1][2][c] * in[8][8][c];
        polydl_scalar0_7 += w[1][2][c] * in[8][9][c];
        polydl_scalar0_8 += w[1][2][c] * in[8][10][c];
        out[8][1][c] = polydl_scalar0_0;
        out[8][2][c] = polydl_scalar0_1;
        out[8][3][c] = polydl_scalar0_2;
        out[8][4][c] = polydl_scalar0_3;
        out[8][5][c] = polydl_scalar0_4;
        out[8][6][c] = polydl_scalar0_5;
        out[8][7][c] = polydl_scalar0_6;
        out[8][8][c] = polydl_scalar0_7;
        out[8][9][c] = polydl_scalar0_8;
      }
    }
    for (int polydl_c_strip = 0; polydl_c_strip <= 31; polydl_c_strip += 16) {
      #pragma omp simd simdlen(16)
      for (int c = polydl_c_strip; c <= polydl_c_strip + 15; ++c) {
        float polydl_scalar0;
        polydl_scalar0 = 0.0f;
        polydl_scalar0 += w[0][0][c] * in[7][9][c];
        polydl_scalar0 += w[0][1][c] * in[7][10][c];
        polydl_scalar0 += w[1][0][c] * in[8][9][c];
        polydl_scalar0 += w[1][1][c] * in[8][10][c];
        out[8][10][c] = polydl_scalar0;
      }
    }
  }
}
#undef borders

/* for all processors */
void borders(float out[9][11][32], const float w[3][3][32], const float in[9][11][32])
{
  if (polydl_fits()) {
    polydl_tuned_borders(out, w, in);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int y = 0; y < 9; ++y)
    for (int x = 0; x < 11; ++x)
      for (int c = 0; c < 32; ++c)
        out[y][x][c] = 0.0f;
  for (int y = 0; y < 9; ++y)
    for (int x = 0; x < 11; ++x)
      for (int r = 0; r < 3; ++r)
        if (y + r >= 1 && y + r < 10)
          for (int s = 0; s < 3; ++s)
            if (x + s >= 1 && x + s < 12)
              for (int c = 0; c < 32; ++c)
                out[y][x][c] += w[r][s][c] * in[y + r - 1][x + s - 1][c];
#endif
}
void borders_release(void);
void borders_release(void)
{
}
const char *borders_missing(void);
const char *borders_missing(void)
{
  return polydl_missing();
}
/* for this one */
