#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
static const long polydl_gemm3_offsets_a[3] = {0, 480, 960};
static const long polydl_gemm3_offsets_b[3] = {0, 69, 138};
typedef float polydl_gemm3_vector16 __attribute__((vector_size(64), aligned(sizeof(float)), may_alias));
static inline void polydl_gemm3_block0_2x13(const float *a, const float *b, float *c, long k, long count, int first)
{
  polydl_gemm3_vector16 c0_0 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 0);
  polydl_gemm3_vector16 c1_0 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 16);
  polydl_gemm3_vector16 c0_1 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 32);
  polydl_gemm3_vector16 c1_1 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 48);
  polydl_gemm3_vector16 c0_2 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 64);
  polydl_gemm3_vector16 c1_2 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 80);
  polydl_gemm3_vector16 c0_3 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 96);
  polydl_gemm3_vector16 c1_3 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 112);
  polydl_gemm3_vector16 c0_4 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 128);
  polydl_gemm3_vector16 c1_4 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 144);
  polydl_gemm3_vector16 c0_5 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 160);
  polydl_gemm3_vector16 c1_5 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 176);
  polydl_gemm3_vector16 c0_6 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 192);
  polydl_gemm3_vector16 c1_6 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 208);
  polydl_gemm3_vector16 c0_7 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 224);
  polydl_gemm3_vector16 c1_7 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 240);
  polydl_gemm3_vector16 c0_8 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 256);
  polydl_gemm3_vector16 c1_8 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 272);
  polydl_gemm3_vector16 c0_9 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 288);
  polydl_gemm3_vector16 c1_9 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 304);
  polydl_gemm3_vector16 c0_10 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 320);
  polydl_gemm3_vector16 c1_10 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 336);
  polydl_gemm3_vector16 c0_11 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 352);
  polydl_gemm3_vector16 c1_11 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 368);
  polydl_gemm3_vector16 c0_12 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 384);
  polydl_gemm3_vector16 c1_12 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 400);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm3_offsets_a[r];
    const float *br = b + polydl_gemm3_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 32 + 0);
      const polydl_gemm3_vector16 a0 = *(const polydl_gemm3_vector16 *)(ar + l * 32 + 0);
      __builtin_prefetch(ar + (l + 8) * 32 + 16);
      const polydl_gemm3_vector16 a1 = *(const polydl_gemm3_vector16 *)(ar + l * 32 + 16);
      const float *bl = br + l * 1;
      __asm__("" : "+r"(bl));
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0;
      const float b1 = bl[6]; c0_1 += a0 * b1; c1_1 += a1 * b1;
      const float b2 = bl[12]; c0_2 += a0 * b2; c1_2 += a1 * b2;
      const float b3 = bl[18]; c0_3 += a0 * b3; c1_3 += a1 * b3;
      const float b4 = bl[24]; c0_4 += a0 * b4; c1_4 += a1 * b4;
      const float b5 = bl[30]; c0_5 += a0 * b5; c1_5 += a1 * b5;
      const float b6 = bl[36]; c0_6 += a0 * b6; c1_6 += a1 * b6;
      const float b7 = bl[42]; c0_7 += a0 * b7; c1_7 += a1 * b7;
      const float b8 = bl[48]; c0_8 += a0 * b8; c1_8 += a1 * b8;
      const float b9 = bl[54]; c0_9 += a0 * b9; c1_9 += a1 * b9;
      const float b10 = bl[138]; c0_10 += a0 * b10; c1_10 += a1 * b10;
      const float b11 = bl[144]; c0_11 += a0 * b11; c1_11 += a1 * b11;
      const float b12 = bl[150]; c0_12 += a0 * b12; c1_12 += a1 * b12;
    }
  }
  *(polydl_gemm3_vector16 *)(c + 0) = c0_0;
  *(polydl_gemm3_vector16 *)(c + 16) = c1_0;
  *(polydl_gemm3_vector16 *)(c + 32) = c0_1;
  *(polydl_gemm3_vector16 *)(c + 48) = c1_1;
  *(polydl_gemm3_vector16 *)(c + 64) = c0_2;
  *(polydl_gemm3_vector16 *)(c + 80) = c1_2;
  *(polydl_gemm3_vector16 *)(c + 96) = c0_3;
  *(polydl_gemm3_vector16 *)(c + 112) = c1_3;
  *(polydl_gemm3_vector16 *)(c + 128) = c0_4;
  *(polydl_gemm3_vector16 *)(c + 144) = c1_4;
  *(polydl_gemm3_vector16 *)(c + 160) = c0_5;
  *(polydl_gemm3_vector16 *)(c + 176) = c1_5;
  *(polydl_gemm3_vector16 *)(c + 192) = c0_6;
  *(polydl_gemm3_vector16 *)(c + 208) = c1_6;
  *(polydl_gemm3_vector16 *)(c + 224) = c0_7;
  *(polydl_gemm3_vector16 *)(c + 240) = c1_7;
  *(polydl_gemm3_vector16 *)(c + 256) = c0_8;
  *(polydl_gemm3_vector16 *)(c + 272) = c1_8;
  *(polydl_gemm3_vector16 *)(c + 288) = c0_9;
  *(polydl_gemm3_vector16 *)(c + 304) = c1_9;
  *(polydl_gemm3_vector16 *)(c + 320) = c0_10;
  *(polydl_gemm3_vector16 *)(c + 336) = c1_10;
  *(polydl_gemm3_vector16 *)(c + 352) = c0_11;
  *(polydl_gemm3_vector16 *)(c + 368) = c1_11;
  *(polydl_gemm3_vector16 *)(c + 384) = c0_12;
  *(polydl_gemm3_vector16 *)(c + 400) = c1_12;
}
static inline void polydl_gemm3_block1_2x13(const float *a, const float *b, float *c, long k, long count, int first)
{
  polydl_gemm3_vector16 c0_0 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 0);
  polydl_gemm3_vector16 c1_0 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 16);
  polydl_gemm3_vector16 c0_1 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 32);
  polydl_gemm3_vector16 c1_1 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 48);
  polydl_gemm3_vector16 c0_2 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 64);
  polydl_gemm3_vector16 c1_2 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 80);
  polydl_gemm3_vector16 c0_3 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 96);
  polydl_gemm3_vector16 c1_3 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 112);
  polydl_gemm3_vector16 c0_4 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 128);
  polydl_gemm3_vector16 c1_4 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 144);
  polydl_gemm3_vector16 c0_5 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 160);
  polydl_gemm3_vector16 c1_5 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 176);
  polydl_gemm3_vector16 c0_6 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 192);
  polydl_gemm3_vector16 c1_6 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 208);
  polydl_gemm3_vector16 c0_7 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 224);
  polydl_gemm3_vector16 c1_7 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 240);
  polydl_gemm3_vector16 c0_8 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 256);
  polydl_gemm3_vector16 c1_8 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 272);
  polydl_gemm3_vector16 c0_9 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 288);
  polydl_gemm3_vector16 c1_9 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 304);
  polydl_gemm3_vector16 c0_10 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 320);
  polydl_gemm3_vector16 c1_10 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 336);
  polydl_gemm3_vector16 c0_11 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 352);
  polydl_gemm3_vector16 c1_11 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 368);
  polydl_gemm3_vector16 c0_12 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 384);
  polydl_gemm3_vector16 c1_12 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 400);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm3_offsets_a[r];
    const float *br = b + polydl_gemm3_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 32 + 0);
      const polydl_gemm3_vector16 a0 = *(const polydl_gemm3_vector16 *)(ar + l * 32 + 0);
      __builtin_prefetch(ar + (l + 8) * 32 + 16);
      const polydl_gemm3_vector16 a1 = *(const polydl_gemm3_vector16 *)(ar + l * 32 + 16);
      const float *bl = br + l * 1;
      __asm__("" : "+r"(bl));
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0;
      const float b1 = bl[6]; c0_1 += a0 * b1; c1_1 += a1 * b1;
      const float b2 = bl[12]; c0_2 += a0 * b2; c1_2 += a1 * b2;
      const float b3 = bl[18]; c0_3 += a0 * b3; c1_3 += a1 * b3;
      const float b4 = bl[24]; c0_4 += a0 * b4; c1_4 += a1 * b4;
      const float b5 = bl[30]; c0_5 += a0 * b5; c1_5 += a1 * b5;
      const float b6 = bl[36]; c0_6 += a0 * b6; c1_6 += a1 * b6;
      const float b7 = bl[120]; c0_7 += a0 * b7; c1_7 += a1 * b7;
      const float b8 = bl[126]; c0_8 += a0 * b8; c1_8 += a1 * b8;
      const float b9 = bl[132]; c0_9 += a0 * b9; c1_9 += a1 * b9;
      const float b10 = bl[138]; c0_10 += a0 * b10; c1_10 += a1 * b10;
      const float b11 = bl[144]; c0_11 += a0 * b11; c1_11 += a1 * b11;
      const float b12 = bl[150]; c0_12 += a0 * b12; c1_12 += a1 * b12;
    }
  }
  *(polydl_gemm3_vector16 *)(c + 0) = c0_0;
  *(polydl_gemm3_vector16 *)(c + 16) = c1_0;
  *(polydl_gemm3_vector16 *)(c + 32) = c0_1;
  *(polydl_gemm3_vector16 *)(c + 48) = c1_1;
  *(polydl_gemm3_vector16 *)(c + 64) = c0_2;
  *(polydl_gemm3_vector16 *)(c + 80) = c1_2;
  *(polydl_gemm3_vector16 *)(c + 96) = c0_3;
  *(polydl_gemm3_vector16 *)(c + 112) = c1_3;
  *(polydl_gemm3_vector16 *)(c + 128) = c0_4;
  *(polydl_gemm3_vector16 *)(c + 144) = c1_4;
  *(polydl_gemm3_vector16 *)(c + 160) = c0_5;
  *(polydl_gemm3_vector16 *)(c + 176) = c1_5;
  *(polydl_gemm3_vector16 *)(c + 192) = c0_6;
  *(polydl_gemm3_vector16 *)(c + 208) = c1_6;
  *(polydl_gemm3_vector16 *)(c + 224) = c0_7;
  *(polydl_gemm3_vector16 *)(c + 240) = c1_7;
  *(polydl_gemm3_vector16 *)(c + 256) = c0_8;
  *(polydl_gemm3_vector16 *)(c + 272) = c1_8;
  *(polydl_gemm3_vector16 *)(c + 288) = c0_9;
  *(polydl_gemm3_vector16 *)(c + 304) = c1_9;
  *(polydl_gemm3_vector16 *)(c + 320) = c0_10;
  *(polydl_gemm3_vector16 *)(c + 336) = c1_10;
  *(polydl_gemm3_vector16 *)(c + 352) = c0_11;
  *(polydl_gemm3_vector16 *)(c + 368) = c1_11;
  *(polydl_gemm3_vector16 *)(c + 384) = c0_12;
  *(polydl_gemm3_vector16 *)(c + 400) = c1_12;
}
static inline void polydl_gemm3_block2_2x12(const float *a, const float *b, float *c, long k, long count, int first)
{
  polydl_gemm3_vector16 c0_0 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 0);
  polydl_gemm3_vector16 c1_0 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 16);
  polydl_gemm3_vector16 c0_1 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 32);
  polydl_gemm3_vector16 c1_1 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 48);
  polydl_gemm3_vector16 c0_2 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 64);
  polydl_gemm3_vector16 c1_2 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 80);
  polydl_gemm3_vector16 c0_3 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 96);
  polydl_gemm3_vector16 c1_3 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 112);
  polydl_gemm3_vector16 c0_4 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 128);
  polydl_gemm3_vector16 c1_4 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 144);
  polydl_gemm3_vector16 c0_5 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 160);
  polydl_gemm3_vector16 c1_5 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 176);
  polydl_gemm3_vector16 c0_6 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 192);
  polydl_gemm3_vector16 c1_6 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 208);
  polydl_gemm3_vector16 c0_7 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 224);
  polydl_gemm3_vector16 c1_7 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 240);
  polydl_gemm3_vector16 c0_8 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 256);
  polydl_gemm3_vector16 c1_8 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 272);
  polydl_gemm3_vector16 c0_9 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 288);
  polydl_gemm3_vector16 c1_9 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 304);
  polydl_gemm3_vector16 c0_10 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 320);
  polydl_gemm3_vector16 c1_10 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 336);
  polydl_gemm3_vector16 c0_11 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 352);
  polydl_gemm3_vector16 c1_11 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 368);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm3_offsets_a[r];
    const float *br = b + polydl_gemm3_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 32 + 0);
      const polydl_gemm3_vector16 a0 = *(const polydl_gemm3_vector16 *)(ar + l * 32 + 0);
      __builtin_prefetch(ar + (l + 8) * 32 + 16);
      const polydl_gemm3_vector16 a1 = *(const polydl_gemm3_vector16 *)(ar + l * 32 + 16);
      const float *bl = br + l * 1;
      __asm__("" : "+r"(bl));
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0;
      const float b1 = bl[6]; c0_1 += a0 * b1; c1_1 += a1 * b1;
      const float b2 = bl[12]; c0_2 += a0 * b2; c1_2 += a1 * b2;
      const float b3 = bl[18]; c0_3 += a0 * b3; c1_3 += a1 * b3;
      const float b4 = bl[102]; c0_4 += a0 * b4; c1_4 += a1 * b4;
      const float b5 = bl[108]; c0_5 += a0 * b5; c1_5 += a1 * b5;
      const float b6 = bl[114]; c0_6 += a0 * b6; c1_6 += a1 * b6;
      const float b7 = bl[120]; c0_7 += a0 * b7; c1_7 += a1 * b7;
      const float b8 = bl[126]; c0_8 += a0 * b8; c1_8 += a1 * b8;
      const float b9 = bl[132]; c0_9 += a0 * b9; c1_9 += a1 * b9;
      const float b10 = bl[138]; c0_10 += a0 * b10; c1_10 += a1 * b10;
      const float b11 = bl[144]; c0_11 += a0 * b11; c1_11 += a1 * b11;
    }
  }
  *(polydl_gemm3_vector16 *)(c + 0) = c0_0;
  *(polydl_gemm3_vector16 *)(c + 16) = c1_0;
  *(polydl_gemm3_vector16 *)(c + 32) = c0_1;
  *(polydl_gemm3_vector16 *)(c + 48) = c1_1;
  *(polydl_gemm3_vector16 *)(c + 64) = c0_2;
  *(polydl_gemm3_vector16 *)(c + 80) = c1_2;
  *(polydl_gemm3_vector16 *)(c + 96) = c0_3;
  *(polydl_gemm3_vector16 *)(c + 112) = c1_3;
  *(polydl_gemm3_vector16 *)(c + 128) = c0_4;
  *(polydl_gemm3_vector16 *)(c + 144) = c1_4;
  *(polydl_gemm3_vector16 *)(c + 160) = c0_5;
  *(polydl_gemm3_vector16 *)(c + 176) = c1_5;
  *(polydl_gemm3_vector16 *)(c + 192) = c0_6;
  *(polydl_gemm3_vector16 *)(c + 208) = c1_6;
  *(polydl_gemm3_vector16 *)(c + 224) = c0_7;
  *(polydl_gemm3_vector16 *)(c + 240) = c1_7;
  *(polydl_gemm3_vector16 *)(c + 256) = c0_8;
  *(polydl_gemm3_vector16 *)(c + 272) = c1_8;
  *(polydl_gemm3_vector16 *)(c + 288) = c0_9;
  *(polydl_gemm3_vector16 *)(c + 304) = c1_9;
  *(polydl_gemm3_vector16 *)(c + 320) = c0_10;
  *(polydl_gemm3_vector16 *)(c + 336) = c1_10;
  *(polydl_gemm3_vector16 *)(c + 352) = c0_11;
  *(polydl_gemm3_vector16 *)(c + 368) = c1_11;
}
static inline void polydl_gemm3_block3_2x12(const float *a, const float *b, float *c, long k, long count, int first)
{
  polydl_gemm3_vector16 c0_0 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 0);
  polydl_gemm3_vector16 c1_0 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 16);
  polydl_gemm3_vector16 c0_1 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 32);
  polydl_gemm3_vector16 c1_1 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 48);
  polydl_gemm3_vector16 c0_2 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 64);
  polydl_gemm3_vector16 c1_2 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 80);
  polydl_gemm3_vector16 c0_3 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 96);
  polydl_gemm3_vector16 c1_3 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 112);
  polydl_gemm3_vector16 c0_4 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 128);
  polydl_gemm3_vector16 c1_4 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 144);
  polydl_gemm3_vector16 c0_5 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 160);
  polydl_gemm3_vector16 c1_5 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 176);
  polydl_gemm3_vector16 c0_6 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 192);
  polydl_gemm3_vector16 c1_6 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 208);
  polydl_gemm3_vector16 c0_7 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 224);
  polydl_gemm3_vector16 c1_7 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 240);
  polydl_gemm3_vector16 c0_8 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 256);
  polydl_gemm3_vector16 c1_8 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 272);
  polydl_gemm3_vector16 c0_9 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 288);
  polydl_gemm3_vector16 c1_9 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 304);
  polydl_gemm3_vector16 c0_10 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 320);
  polydl_gemm3_vector16 c1_10 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 336);
  polydl_gemm3_vector16 c0_11 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 352);
  polydl_gemm3_vector16 c1_11 = first ? (polydl_gemm3_vector16){0} : *(const polydl_gemm3_vector16 *)(c + 368);
  for (long r = 0; r < count; ++r) {
    const float *ar = a + polydl_gemm3_offsets_a[r];
    const float *br = b + polydl_gemm3_offsets_b[r];
    _Pragma("GCC unroll 4")
    for (long l = 0; l < k; ++l) {
      __builtin_prefetch(ar + (l + 8) * 32 + 0);
      const polydl_gemm3_vector16 a0 = *(const polydl_gemm3_vector16 *)(ar + l * 32 + 0);
      __builtin_prefetch(ar + (l + 8) * 32 + 16);
      const polydl_gemm3_vector16 a1 = *(const polydl_gemm3_vector16 *)(ar + l * 32 + 16);
      const float *bl = br + l * 1;
      __asm__("" : "+r"(bl));
      const float b0 = bl[0]; c0_0 += a0 * b0; c1_0 += a1 * b0;
      const float b1 = bl[6]; c0_1 += a0 * b1; c1_1 += a1 * b1;
      const float b2 = bl[90]; c0_2 += a0 * b2; c1_2 += a1 * b2;
      const float b3 = bl[96]; c0_3 += a0 * b3; c1_3 += a1 * b3;
      const float b4 = bl[102]; c0_4 += a0 * b4; c1_4 += a1 * b4;
      const float b5 = bl[108]; c0_5 += a0 * b5; c1_5 += a1 * b5;
      const float b6 = bl[114]; c0_6 += a0 * b6; c1_6 += a1 * b6;
      const float b7 = bl[120]; c0_7 += a0 * b7; c1_7 += a1 * b7;
      const float b8 = bl[126]; c0_8 += a0 * b8; c1_8 += a1 * b8;
      const float b9 = bl[132]; c0_9 += a0 * b9; c1_9 += a1 * b9;
      const float b10 = bl[138]; c0_10 += a0 * b10; c1_10 += a1 * b10;
      const float b11 = bl[144]; c0_11 += a0 * b11; c1_11 += a1 * b11;
    }
  }
  *(polydl_gemm3_vector16 *)(c + 0) = c0_0;
  *(polydl_gemm3_vector16 *)(c + 16) = c1_0;
  *(polydl_gemm3_vector16 *)(c + 32) = c0_1;
  *(polydl_gemm3_vector16 *)(c + 48) = c1_1;
  *(polydl_gemm3_vector16 *)(c + 64) = c0_2;
  *(polydl_gemm3_vector16 *)(c + 80) = c1_2;
  *(polydl_gemm3_vector16 *)(c + 96) = c0_3;
  *(polydl_gemm3_vector16 *)(c + 112) = c1_3;
  *(polydl_gemm3_vector16 *)(c + 128) = c0_4;
  *(polydl_gemm3_vector16 *)(c + 144) = c1_4;
  *(polydl_gemm3_vector16 *)(c + 160) = c0_5;
  *(polydl_gemm3_vector16 *)(c + 176) = c1_5;
  *(polydl_gemm3_vector16 *)(c + 192) = c0_6;
  *(polydl_gemm3_vector16 *)(c + 208) = c1_6;
  *(polydl_gemm3_vector16 *)(c + 224) = c0_7;
  *(polydl_gemm3_vector16 *)(c + 240) = c1_7;
  *(polydl_gemm3_vector16 *)(c + 256) = c0_8;
  *(polydl_gemm3_vector16 *)(c + 272) = c1_8;
  *(polydl_gemm3_vector16 *)(c + 288) = c0_9;
  *(polydl_gemm3_vector16 *)(c + 304) = c1_9;
  *(polydl_gemm3_vector16 *)(c + 320) = c0_10;
  *(polydl_gemm3_vector16 *)(c + 336) = c1_10;
  *(polydl_gemm3_vector16 *)(c + 352) = c0_11;
  *(polydl_gemm3_vector16 *)(c + 368) = c1_11;
}
static void polydl_gemm3_run_000(const float *a, const float *b, float *c, long count, int first)
{
  polydl_gemm3_block0_2x13(a + 0, b + 0, c + 0 + 0, 15, count, first);
  polydl_gemm3_block1_2x13(a + 0, b + 156, c + 0 + 416, 15, count, first);
  polydl_gemm3_block2_2x12(a + 0, b + 312, c + 0 + 832, 15, count, first);
  polydl_gemm3_block3_2x12(a + 0, b + 462, c + 0 + 1216, 15, count, first);
}
static void polydl_gemm3_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  (void)last_m;
  (void)last_n;
  (void)last_k;
  if (1)
    polydl_gemm3_run_000(a, b, c, count, first);
}

#define conv_first polydl_tuned_conv_first
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void conv_first(float y[10][10][32], const float w[3][5][3][32], const float x[20][23][3])
{
  {
    float x_padded[21][23][3] __attribute__((aligned(64)));
    float (*w_flat)[15][32] = (void *)w;
    float (*x_padded_flat)[69] = (void *)x_padded;
    float (*x_flat)[69] = (void *)x;
    #pragma omp simd simdlen(16)
    for (int x_padded_1_x_padded_2 = 0; x_padded_1_x_padded_2 <= 68; ++x_padded_1_x_padded_2) {
      x_padded_flat[0][x_padded_1_x_padded_2] = 0.0f;
    }
    for (int x_0 = 0; x_0 <= 19; ++x_0) {
      #pragma omp simd simdlen(16)
      for (int x_1_x_2 = 0; x_1_x_2 <= 68; ++x_1_x_2) {
        x_padded_flat[x_0 + 1][x_1_x_2] = x_flat[x_0][x_1_x_2];
      }
    }
    for (int i_t1 = 0; i_t1 <= 1; ++i_t1) {
      polydl_gemm3_run(&w_flat[0][0][0], &x_padded_flat[2 * (5 * i_t1)][0], &y[5 * i_t1][0][0], 0, 0, 0, 3, 1);
    }
  }
}
#undef conv_first

/* for all processors */
void conv_first(float y[10][10][32], const float w[3][5][3][32], const float x[20][23][3])
{
  if (polydl_fits()) {
    polydl_tuned_conv_first(y, w, x);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 0; i < 10; i++)
    for (int j = 0; j < 10; j++)
      for (int k = 0; k < 32; k++)
        y[i][j][k] = 0.0f;
  for (int i = 0; i < 10; i++)
    for (int r = 0; r < 3; r++)
      if (2 * i + r >= 1)
        for (int j = 0; j < 10; j++)
          for (int s = 0; s < 5; s++)
            for (int c = 0; c < 3; c++)
              for (int k = 0; k < 32; k++)
                y[i][j][k] += w[r][s][c][k] * x[2 * i + r - 1][2 * j + s][c];
#endif
}
void conv_first_release(void);
void conv_first_release(void)
{
}
const char *conv_first_missing(void);
const char *conv_first_missing(void)
{
  return polydl_missing();
}
/* for this one */
