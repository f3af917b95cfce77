/* What the C of `c-amx` takes from <immintrin.h>, in plain C, for processors without AVX-512. It stands first on the
   include path. Intel's Intrinsics Guide defines each function. */
#ifndef TILES_IN_C_IMMINTRIN_H
#define TILES_IN_C_IMMINTRIN_H

#include <string.h>

typedef union {
  unsigned u[16];
  float f[16];
  unsigned short h[32];
  unsigned char b[64];
} __m512i;
typedef __m512i __m512;
typedef struct {
  unsigned short h[16];
} __m256i;
typedef struct {
  unsigned char b[16];
} __m128i;
typedef unsigned short __mmask16;
typedef unsigned __mmask32;
typedef unsigned long long __mmask64;

#define _CMP_ORD_Q 7
#define IN_C static inline __attribute__((unused))

IN_C __m512 _mm512_castsi512_ps(__m512i x) { return x; }
IN_C __m512i _mm512_castps_si512(__m512 x) { return x; }
IN_C __m256i _mm512_castsi512_si256(__m512i x)
{
  __m256i lower;
  memcpy(&lower, &x, sizeof lower);
  return lower;
}
IN_C __m128i _mm512_castsi512_si128(__m512i x)
{
  __m128i lower;
  memcpy(&lower, &x, sizeof lower);
  return lower;
}
IN_C __m512i _mm512_set1_epi32(int value)
{
  __m512i x;
  for (int i = 0; i < 16; ++i)
    x.u[i] = (unsigned)value;
  return x;
}
IN_C __m512i _mm512_setzero_si512(void) { return _mm512_set1_epi32(0); }
#define _mm512_set_epi16(...) in_order((const unsigned short[32]){__VA_ARGS__})
/* The last argument is the first element. */
IN_C __m512i in_order(const unsigned short *last_first)
{
  __m512i x;
  for (int i = 0; i < 32; ++i)
    x.h[i] = last_first[31 - i];
  return x;
}
IN_C __mmask16 _mm512_cmp_ps_mask(__m512 x, __m512 y, int ordered)
{
  __mmask16 mask = 0;
  (void)ordered;
  for (int i = 0; i < 16; ++i)
    mask |= (__mmask16)((x.f[i] == x.f[i] && y.f[i] == y.f[i]) << i);
  return mask;
}
IN_C __m512i _mm512_and_si512(__m512i x, __m512i y)
{
  for (int i = 0; i < 16; ++i)
    x.u[i] &= y.u[i];
  return x;
}
IN_C __m512i _mm512_or_si512(__m512i x, __m512i y)
{
  for (int i = 0; i < 16; ++i)
    x.u[i] |= y.u[i];
  return x;
}
IN_C __m512i _mm512_mask_add_epi32(__m512i otherwise, __mmask16 mask, __m512i x, __m512i y)
{
  for (int i = 0; i < 16; ++i)
    otherwise.u[i] = mask >> i & 1 ? x.u[i] + y.u[i] : otherwise.u[i];
  return otherwise;
}
IN_C __m512 _mm512_sub_ps(__m512 x, __m512 y)
{
  for (int i = 0; i < 16; ++i)
    x.f[i] -= y.f[i];
  return x;
}
IN_C __m512i _mm512_slli_epi32(__m512i x, unsigned bits)
{
  for (int i = 0; i < 16; ++i)
    x.u[i] <<= bits;
  return x;
}
IN_C __m512i _mm512_srli_epi32(__m512i x, unsigned bits)
{
  for (int i = 0; i < 16; ++i)
    x.u[i] >>= bits;
  return x;
}
IN_C __m512i _mm512_cvtepu16_epi32(__m256i x)
{
  __m512i wide;
  for (int i = 0; i < 16; ++i)
    wide.u[i] = x.h[i];
  return wide;
}
IN_C __m512i _mm512_cvtepu8_epi32(__m128i x)
{
  __m512i wide;
  for (int i = 0; i < 16; ++i)
    wide.u[i] = x.b[i];
  return wide;
}
/* Memory behind an element that is masked out is not read. */
IN_C __m512i masked(__mmask64 mask, const void *from, int bytes)
{
  __m512i x = _mm512_setzero_si512();
  for (int i = 0; i < 64 / bytes; ++i)
    if (mask >> i & 1)
      memcpy(x.b + bytes * i, (const char *)from + bytes * i, (unsigned long)bytes);
  return x;
}
IN_C __m512i _mm512_maskz_loadu_epi32(__mmask16 mask, const void *from) { return masked(mask, from, 4); }
IN_C __m512i _mm512_maskz_loadu_epi16(__mmask32 mask, const void *from) { return masked(mask, from, 2); }
IN_C __m512i _mm512_maskz_loadu_epi8(__mmask64 mask, const void *from) { return masked(mask, from, 1); }
IN_C void _mm512_storeu_si512(void *to, __m512i x) { memcpy(to, &x, sizeof x); }
IN_C void _mm512_store_si512(void *to, __m512i x)
{
  /* An address that isn't aligned ends the process, as in the processor. */
  if ((unsigned long)to % 64)
    __builtin_trap();
  memcpy(to, &x, sizeof x);
}
IN_C __m512i _mm512_mask_blend_epi16(__mmask32 mask, __m512i x, __m512i y)
{
  for (int i = 0; i < 32; ++i)
    x.h[i] = mask >> i & 1 ? y.h[i] : x.h[i];
  return x;
}
/* Elements of ``bytes`` bytes of the lower or upper halves of both operands' quarters, in turn. */
IN_C __m512i interleaved(__m512i x, __m512i y, int bytes, int upper)
{
  __m512i z;
  for (int i = 0; i < 64; i += 16)
    for (int j = 0; j < 8; j += bytes) {
      memcpy(z.b + i + 2 * j, x.b + i + 8 * upper + j, (unsigned long)bytes);
      memcpy(z.b + i + 2 * j + bytes, y.b + i + 8 * upper + j, (unsigned long)bytes);
    }
  return z;
}
IN_C __m512i _mm512_unpacklo_epi32(__m512i x, __m512i y) { return interleaved(x, y, 4, 0); }
IN_C __m512i _mm512_unpackhi_epi32(__m512i x, __m512i y) { return interleaved(x, y, 4, 1); }
IN_C __m512i _mm512_unpacklo_epi64(__m512i x, __m512i y) { return interleaved(x, y, 8, 0); }
IN_C __m512i _mm512_unpackhi_epi64(__m512i x, __m512i y) { return interleaved(x, y, 8, 1); }
/* Two quarters of the one and two of the other, two bits for the number of each. */
IN_C __m512i _mm512_shuffle_i32x4(__m512i x, __m512i y, int places)
{
  __m512i z;
  for (int i = 0; i < 4; ++i)
    memcpy(z.b + 16 * i, (i < 2 ? &x : &y)->b + 16 * (places >> 2 * i & 3), 16);
  return z;
}
IN_C __m512i _mm512_permutex2var_epi16(__m512i x, __m512i places, __m512i y)
{
  for (int i = 0; i < 32; ++i)
    places.h[i] = places.h[i] & 32 ? y.h[places.h[i] & 31] : x.h[places.h[i] & 31];
  return places;
}
#endif
