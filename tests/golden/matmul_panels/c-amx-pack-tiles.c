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
static const size_t polydl_sizes[polydl_arrays] = {65536};
/* kept memory */
/* Products of bfloat16s and bytes, which Intel's matrix extension (AMX) computes, and of floats as sums of them. */
#ifndef POLYDL_TILES
#define POLYDL_TILES
/* Clang 14 writes the names of these features in its own way. */
#if defined __AMX_BF16__ && defined __AMX_INT8__ || defined __AMXBF16__ && defined __AMXINT8__
#define POLYDL_TARGET_HAS_TILES
#endif
#if defined __x86_64__ && defined __linux__ && defined POLYDL_TARGET_HAS_TILES && defined __AVX512BW__
#define POLYDL_HAS_TILES
static int polydl_tiles; /* whether the system lets this process use tile registers */
#define POLYDL_TILE_FUNCTION __attribute__((unused)) static inline /* some elements need some of these */
#include <immintrin.h>
extern long syscall(long number, ...);
POLYDL_TILE_FUNCTION int polydl_ask_for_tiles(void)
{
  return syscall(158 /* arch_prctl */, 0x1023 /* ARCH_REQ_XCOMP_PERM */, 18L /* XTILEDATA */) == 0;
}
#define POLYDL_TILE_CONFIGURE(from) __asm__ volatile("ldtilecfg (%0)" ::"r"(from) : "memory")
#define POLYDL_TILE_RELEASE() __asm__ volatile("tilerelease" ::: "memory")
#define POLYDL_TILE_ZERO(t) __asm__ volatile("tilezero %%tmm" #t ::)
#define POLYDL_TILE_LOAD(t, from, bytes) __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #t ::"r"(from), "r"((long)(bytes)))
#define POLYDL_TILE_STORE(t, to, bytes) __asm__ volatile("tilestored %%tmm" #t ", (%0,%1,1)" ::"r"(to), "r"((long)(bytes)) : "memory")
/* What is multiplied; of bytes, B's sign before A's. */
enum {
  POLYDL_OF_FLOATS,
  POLYDL_OF_BFLOAT16S,
  POLYDL_SIGNED_SIGNED,
  POLYDL_SIGNED_PLAIN,
  POLYDL_PLAIN_SIGNED,
  POLYDL_PLAIN_PLAIN
};
#define POLYDL_TILE_DOT(name, c, b, a) __asm__ volatile(name " %%tmm" #a ", %%tmm" #b ", %%tmm" #c ::)
#define POLYDL_TILE_PRODUCT(c, b, a)                                                                                   \
  do {                                                                                                                 \
    switch (kind) {                                                                                                    \
    case POLYDL_SIGNED_SIGNED: POLYDL_TILE_DOT("tdpbssd", c, b, a); break;                                             \
    case POLYDL_SIGNED_PLAIN: POLYDL_TILE_DOT("tdpbsud", c, b, a); break;                                              \
    case POLYDL_PLAIN_SIGNED: POLYDL_TILE_DOT("tdpbusd", c, b, a); break;                                              \
    case POLYDL_PLAIN_PLAIN: POLYDL_TILE_DOT("tdpbuud", c, b, a); break;                                               \
    default: POLYDL_TILE_DOT("tdpbf16ps", c, b, a);                                                                    \
    }                                                                                                                  \
  } while (0)
#define POLYDL_FETCH 16 /* rows of A ahead */
#define POLYDL_COLUMNS_AHEAD 8 /* columns of B, which may lie a page apart too */
/* Each of 16 floats as three bfloat16s whose sum it is, in the upper halves. The first is the nearest (what is not a
   number stays that), so that the rest may have either sign; it has 16 bits, of which the second takes the first eight. */
POLYDL_TILE_FUNCTION void polydl_parts(__m512i x, __m512i part[3])
{
  const __m512i upper = _mm512_set1_epi32(~0xffff);
  const __mmask16 numbers = _mm512_cmp_ps_mask(_mm512_castsi512_ps(x), _mm512_castsi512_ps(x), _CMP_ORD_Q);
  part[0] = _mm512_and_si512(_mm512_mask_add_epi32(x, numbers, x, _mm512_set1_epi32(0x8000)), upper);
  x = _mm512_castps_si512(_mm512_sub_ps(_mm512_castsi512_ps(x), _mm512_castsi512_ps(part[0])));
  part[1] = _mm512_and_si512(x, upper);
  part[2] = _mm512_castps_si512(_mm512_sub_ps(_mm512_castsi512_ps(x), _mm512_castsi512_ps(part[1])));
}
/* Elements side by side keep their order: that of B along k. */
POLYDL_TILE_FUNCTION void polydl_split_run(const float *from, unsigned short *to, long plane, long length)
{
  const __m512i upper = _mm512_set_epi16(63, 61, 59, 57, 55, 53, 51, 49, 47, 45, 43, 41, 39, 37, 35, 33, 31, 29, 27, 25,
                                         23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
  for (long i = 0; i < length; i += 32) {
    const long left = length - i;
    const __mmask16 first = left >= 16 ? 0xffff : (__mmask16)((1u << left) - 1);
    const __mmask16 second = left >= 32 ? 0xffff : left > 16 ? (__mmask16)((1u << (left - 16)) - 1) : 0;
    __m512i x[3], y[3];
    polydl_parts(_mm512_maskz_loadu_epi32(first, from + i), x);
    polydl_parts(_mm512_maskz_loadu_epi32(second, from + i + 16), y);
    for (int p = 0; p < 3; ++p)
      _mm512_storeu_si512(to + p * plane + i, _mm512_permutex2var_epi16(x[p], upper, y[p]));
  }
}
/* Two rows of A, element by element. */
POLYDL_TILE_FUNCTION void polydl_split_pair(const float *from, long lda, unsigned short *to, long plane, __mmask16 one, __mmask16 two)
{
  __m512i x[3], y[3];
  polydl_parts(_mm512_maskz_loadu_epi32(one, from), x);
  polydl_parts(_mm512_maskz_loadu_epi32(two, from + lda), y);
  for (int p = 0; p < 3; ++p)
    _mm512_store_si512(to + p * plane, _mm512_mask_blend_epi16(0xaaaaaaaa, _mm512_srli_epi32(x[p], 16), y[p]));
}
/* Rows of A in pairs, for columns that fill a tile or fewer; the parts of a step lie side by side. There are so many
   ``rows``, and zeros behind them. Rows may lie a page apart, which no processor fetches ahead by itself. */
POLYDL_TILE_FUNCTION void polydl_split_pairs(
    const float *from, long lda, unsigned short *to, long plane, int rows, int pairs, int columns)
{
  const __mmask16 some = columns >= 16 ? 0xffff : (__mmask16)((1u << columns) - 1);
  for (int pair = 0; pair < pairs; ++pair, from += 2 * lda, to += 32) {
    __builtin_prefetch(from + POLYDL_FETCH * lda);
    __builtin_prefetch(from + (POLYDL_FETCH + 1) * lda);
    polydl_split_pair(from, lda, to, plane, 2 * pair < rows ? some : 0, 2 * pair + 1 < rows ? some : 0);
  }
}
/* The same of bfloat16s, which need not be split. */
POLYDL_TILE_FUNCTION void polydl_join_pairs(const unsigned short *from, long lda, unsigned short *to, int pairs, int columns)
{
  const __mmask32 some = columns >= 16 ? 0xffff : (1u << columns) - 1;
  for (int pair = 0; pair < pairs; ++pair, from += 2 * lda, to += 32) {
    __builtin_prefetch(from + POLYDL_FETCH * lda);
    __builtin_prefetch(from + (POLYDL_FETCH + 1) * lda);
    const __m256i x = _mm512_castsi512_si256(_mm512_maskz_loadu_epi16(some, from));
    const __m256i y = _mm512_castsi512_si256(_mm512_maskz_loadu_epi16(some, from + lda));
    _mm512_store_si512(to, _mm512_or_si512(_mm512_cvtepu16_epi32(x), _mm512_slli_epi32(_mm512_cvtepu16_epi32(y), 16)));
  }
}
/* The same of bytes, in fours. */
POLYDL_TILE_FUNCTION void polydl_join_fours(const void *first, long lda, unsigned short *to, int fours, int columns)
{
  const __mmask64 some = columns >= 16 ? 0xffff : (1u << columns) - 1;
  const char *from = first;
  for (int four = 0; four < fours; ++four, from += 4 * lda, to += 32) {
    __m512i joined = _mm512_setzero_si512();
    for (int step = 3; step >= 0; --step) {
      __builtin_prefetch(from + (POLYDL_FETCH + step) * lda);
      const __m128i x = _mm512_castsi512_si128(_mm512_maskz_loadu_epi8(some, from + step * lda));
      joined = _mm512_or_si512(_mm512_slli_epi32(joined, 8), _mm512_cvtepu8_epi32(x));
    }
    _mm512_store_si512(to, joined);
  }
}
/* Columns of B to be split, which fill up to two tiles: so many of all are the first tile's. */
struct polydl_columns {
  const float *b;
  const long *from;
  int of_first, all, begin; /* the next to be split */
  unsigned short *to;
};
/* Some pieces of one product's columns, in the order in which they lie: each column from ``first`` on has one for each
   step of k, the ``last`` of which may be shorter. The second tile follows the first, and the parts of both lie 1,024
   bfloat16s apart. */
POLYDL_TILE_FUNCTION __attribute__((always_inline)) void polydl_split_columns(
    const struct polydl_columns *columns, int first, int piece, int end, int steps, long offset, unsigned short *to,
    int length, int last)
{
  for (; piece < end && first + piece / steps < columns->all; ++piece) {
    const int j = first + piece / steps, step = piece % steps;
    const int place = j < columns->of_first ? j : 16 + j - columns->of_first;
    const float *later = columns->b + columns->from[j + POLYDL_COLUMNS_AHEAD] + offset + length * step;
    __builtin_prefetch(later, 0, 2);
    __builtin_prefetch(later + 16, 0, 2);
    polydl_split_run(columns->b + columns->from[j] + offset + length * step, to + 3 * 1024 * step + 32 * place, 1024,
                     step + 1 < steps ? length : last);
  }
}
/* Rows of A to be split, two tiles of 16 elements each, for so many steps of each product. */
struct polydl_rows {
  const float *a;
  const long *offsets;
  int steps, unit, end; /* the next two rows of a tile to be split, and their number */
  unsigned short *to;
};
/* Some of them, as polydl_split_pairs() does; the two tiles after them are fetched. */
POLYDL_TILE_FUNCTION __attribute__((always_inline)) void polydl_split_rows(
    const struct polydl_rows *rows, long lda, int unit, int end, int pairs)
{
  for (; unit < end && unit < rows->end; ++unit) {
    const int tile = unit % 2, pair = unit / 2 % pairs, step = unit / (2 * pairs);
    const float *from =
        rows->a + rows->offsets[step / rows->steps] + 2 * (step % rows->steps * pairs + pair) * lda + 16 * tile;
    __builtin_prefetch(from + 32);
    __builtin_prefetch(from + lda + 32);
    polydl_split_pair(from, lda, rows->to + (6 * step + tile) * 32 * pairs + 32 * pair, 64 * pairs, 0xffff, 0xffff);
  }
}
/* The sums so far of one or two tiles along n by one or two along m, and the new ones; nothing before is put off. */
#define POLYDL_TILES_OF_C_BEGIN                                                                                        \
  do {                                                                                                                 \
    __asm__ volatile("" ::: "memory");                                                                                 \
    if (first) {                                                                                                       \
      POLYDL_TILE_ZERO(0);                                                                                             \
      if (wide) POLYDL_TILE_ZERO(1);                                                                                   \
      if (deep) POLYDL_TILE_ZERO(2);                                                                                   \
      if (deep && wide) POLYDL_TILE_ZERO(3);                                                                           \
    } else {                                                                                                           \
      POLYDL_TILE_LOAD(0, c0, 4 * ldc);                                                                                \
      if (wide) POLYDL_TILE_LOAD(1, (char *)c0 + 64, 4 * ldc);                                                         \
      if (deep) POLYDL_TILE_LOAD(2, c1, 4 * ldc);                                                                      \
      if (deep && wide) POLYDL_TILE_LOAD(3, (char *)c1 + 64, 4 * ldc);                                                 \
    }                                                                                                                  \
  } while (0)
#define POLYDL_TILES_OF_C_END                                                                                          \
  do {                                                                                                                 \
    POLYDL_TILE_STORE(0, c0, 4 * ldc);                                                                                 \
    if (wide) POLYDL_TILE_STORE(1, (char *)c0 + 64, 4 * ldc);                                                          \
    if (deep) POLYDL_TILE_STORE(2, c1, 4 * ldc);                                                                       \
    if (deep && wide) POLYDL_TILE_STORE(3, (char *)c1 + 64, 4 * ldc);                                                  \
  } while (0)
/* C += A * B for one or two tiles along n by one or two along m; the smallest products of parts come first. */
#define POLYDL_TILE_PRODUCTS                                                                                           \
  do {                                                                                                                 \
    POLYDL_TILE_PRODUCT(0, 4, 6);                                                                                      \
    if (wide) POLYDL_TILE_PRODUCT(1, 4, 7);                                                                            \
    if (deep) POLYDL_TILE_PRODUCT(2, 5, 6);                                                                            \
    if (deep && wide) POLYDL_TILE_PRODUCT(3, 5, 7);                                                                    \
  } while (0)
/* Meanwhile vector units split columns or rows of the next tiles, the next step's A (``after`` this block) comes into the first
   cache, and what later calls read into the second. */
#define POLYDL_TILE_MEANWHILE(part)                                                                                    \
  do {                                                                                                                 \
    for (int line = 0; line < (wide ? pairs : pairs / 2); ++line)                                                      \
      __builtin_prefetch(soon + ((part) * (wide ? pairs : pairs / 2) + line) * 32);                                    \
    if (share)                                                                                                         \
      polydl_split_columns(next, next->begin, share * step + share * (part) / 6,                                       \
                           share * step + share * ((part) + 1) / 6, steps, offsets_b[r], to, 2 * pairs, last);         \
    if (units)                                                                                                         \
      polydl_split_rows(rows, lda, unit + units * (part) / 6, unit + units * ((part) + 1) / 6, pairs);                 \
    for (int line = lines * (part) / 6; line < lines * ((part) + 1) / 6; ++line)                                       \
      __builtin_prefetch(ahead + 64 * line, 0, 2);                                                                     \
  } while (0)
#define POLYDL_TILES_OF_A(part)                                                                                        \
  do {                                                                                                                 \
    POLYDL_TILE_LOAD(6, a + (part) * (wide ? 64 : 32) * pairs, 64);                                                    \
    if (wide) POLYDL_TILE_LOAD(7, a + ((part) * 64 + 32) * pairs, 64);                                                 \
  } while (0)
#define POLYDL_TILES_OF_B(part)                                                                                        \
  do {                                                                                                                 \
    POLYDL_TILE_LOAD(4, b0 + (part) * plane * width, column * width);                                                  \
    if (deep) POLYDL_TILE_LOAD(5, b1 + (part) * plane * width, column * width);                                        \
  } while (0)
POLYDL_TILE_FUNCTION __attribute__((always_inline)) void polydl_tile_block(
    const unsigned short *a, const unsigned short *after, const void *first_b, const void *second_b,
    const long *offsets_first, const long *offsets_second, long plane, long column, long advance, void *c0, void *c1,
    long ldc, long count, int steps, int pairs, int kind, int first, int wide, int deep,
    const struct polydl_columns *next, int share, const long *offsets_b, int last, const struct polydl_rows *rows,
    int units, long lda, const char *ahead, int lines)
{
  const long width = kind > POLYDL_OF_BFLOAT16S ? 1 : 2, parts = kind == POLYDL_OF_FLOATS ? 3 : 1;
  unsigned short *to = share ? next->to : 0;
  int unit = units ? rows->unit : 0;
  POLYDL_TILES_OF_C_BEGIN;
  for (long r = 0; r < count; ++r) {
    const char *b0 = (const char *)first_b + offsets_first[r] * width;
    const char *b1 = (const char *)second_b + offsets_second[r] * width;
    for (int step = 0; step < steps; ++step) {
      if (parts == 3) {
        const unsigned short *soon = step + 1 < steps || r + 1 < count ? a + (wide ? 192 : 96) * pairs : after;
        POLYDL_TILES_OF_A(2);
        POLYDL_TILES_OF_B(0);
        POLYDL_TILE_PRODUCTS;
        POLYDL_TILES_OF_A(1);
        POLYDL_TILE_MEANWHILE(0);
        POLYDL_TILE_PRODUCTS;
        POLYDL_TILES_OF_B(1);
        POLYDL_TILE_MEANWHILE(1);
        POLYDL_TILE_PRODUCTS;
        POLYDL_TILES_OF_A(0);
        POLYDL_TILE_MEANWHILE(2);
        POLYDL_TILE_PRODUCTS;
        POLYDL_TILES_OF_B(2);
        POLYDL_TILE_MEANWHILE(3);
        POLYDL_TILE_PRODUCTS;
        POLYDL_TILES_OF_B(0);
        POLYDL_TILE_MEANWHILE(4);
        POLYDL_TILE_PRODUCTS;
        POLYDL_TILE_MEANWHILE(5);
      } else {
        POLYDL_TILES_OF_A(0);
        POLYDL_TILES_OF_B(0);
        for (int line = 0; line < lines; ++line)
          __builtin_prefetch(ahead + 64 * line, 0, 2);
        POLYDL_TILE_PRODUCTS;
      }
      a += parts * (wide ? 64 : 32) * pairs;
      b0 += advance * width;
      b1 += advance * width;
      ahead += 64 * lines;
      unit += units;
    }
    to += share ? 3 * 1024 * steps : 0;
  }
  POLYDL_TILES_OF_C_END;
}
#endif
#endif
static const long polydl_gemm2_offsets_a[1] = {0};
static const long polydl_gemm2_offsets_b[1] = {0};
static const long polydl_gemm2_rows_b[1] = {0};
static const long polydl_gemm2_rows_c[1] = {0};
static void polydl_gemm2_loops(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
  const long m = last_m ? 64 : 64, n = last_n ? 112 : 112, k = last_k ? 256 : 256;
  for (int q = 0; q < 1; ++q)
    for (long j = 0; j < n; ++j) {
      float *to = c + polydl_gemm2_rows_c[q] + j * 1152;
      if (first)
        for (long i = 0; i < m; ++i)
          to[i] = 0;
      for (long r = 0; r < count; ++r)
        for (long l = 0; l < k; ++l) {
          const float *column = a + polydl_gemm2_offsets_a[r] + l * 64;
          const float factor = b[polydl_gemm2_rows_b[q] + polydl_gemm2_offsets_b[r] + j * 1280 + l * 1];
          for (long i = 0; i < m; ++i)
            to[i] += column[i] * factor;
        }
    }
}
#ifdef POLYDL_HAS_TILES
static _Thread_local unsigned short polydl_gemm2_parts_a[1][49152] __attribute__((aligned(64)));
static _Thread_local unsigned short polydl_gemm2_parts_b[49152] __attribute__((aligned(64)));
static void polydl_gemm2_run_000_a_panel(const float *a, int row, int tiles, long count, unsigned short *to)
{
  for (long r = 0; r < count; ++r)
    for (int step = 0; step < 8; ++step, to += 1536 * tiles)
      for (int tile = 0; tile < tiles; ++tile) {
        const int left = 64 - row - 16 * tile;
        const float *from = a + polydl_gemm2_offsets_a[r] + 2048L * step;
        polydl_split_pairs(from + row + 16 * tile, 64, to + 512 * tile, 512 * tiles, 32, 16, left < 16 ? left : 16);
      }
}
static const unsigned short *polydl_gemm2_run_000_a(const float *a, long count)
{
  const int slot = 0;
  for (int row = 0; row < 64; row += 32)
    polydl_gemm2_run_000_a_panel(a, row, 64 - row > 16 ? 2 : 1, count, polydl_gemm2_parts_a[slot] + row * 768 * count);
  return polydl_gemm2_parts_a[slot];
}
static void polydl_gemm2_run_000(const float *a, const float *b, float *c, long count, int first)
{
  static const unsigned char sizes[][64] __attribute__((aligned(64))) = {
    {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64, 0, 64, 0, 64, 0, 64, 0, 64, 0, 64, 0, 64, 0, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 16, 16, 16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0},
    {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64, 0, 64, 0, 64, 0, 64, 0, 64, 0, 64, 0, 64, 0, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 16, 1, 1, 16, 1, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0}
  };
  static const long blocks[][7] = {
    {16, 16, 0, 0, 18432, 0, 0},
    {16, 16, 32, 36864, 55296, 0, 0},
    {16, 16, 64, 73728, 92160, 0, 0},
    {16, 0, 96, 110592, 110592, 1, 1},
    {0, 0, 0, 0, 0, 0, 0}
  };
  static const long columns[] = {0, 1280, 2560, 3840, 5120, 6400, 7680, 8960, 10240, 11520, 12800, 14080, 15360, 16640, 17920, 19200, 20480, 21760, 23040, 24320, 25600, 26880, 28160, 29440, 30720, 32000, 33280, 34560, 35840, 37120, 38400, 39680, 40960, 42240, 43520, 44800, 46080, 47360, 48640, 49920, 51200, 52480, 53760, 55040, 56320, 57600, 58880, 60160, 61440, 62720, 64000, 65280, 66560, 67840, 69120, 70400, 71680, 72960, 74240, 75520, 76800, 78080, 79360, 80640, 81920, 83200, 84480, 85760, 87040, 88320, 89600, 90880, 92160, 93440, 94720, 96000, 97280, 98560, 99840, 101120, 102400, 103680, 104960, 106240, 107520, 108800, 110080, 111360, 112640, 113920, 115200, 116480, 117760, 119040, 120320, 121600, 122880, 124160, 125440, 126720, 128000, 129280, 130560, 131840, 133120, 134400, 135680, 136960, 138240, 139520, 140800, 142080, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  static const long starts[] = {0};
  const unsigned short *parts_a = polydl_gemm2_run_000_a(a, count);
  struct polydl_columns next = {b, columns, blocks[0][0], blocks[0][0] + blocks[0][1], 0, 0};
  for (long r = 0; r < count; ++r)
    polydl_split_columns(&next, 0, 0, 256, 8, polydl_gemm2_offsets_b[r], polydl_gemm2_parts_b + starts[r], 32, 32);
  long set = -1;
  for (int i = 0; i < 4; ++i) {
    const long *block = blocks[i], *after = blocks[i + 1];
    const unsigned short *panel = polydl_gemm2_parts_b + i % 2 * 24576, *from_a = parts_a;
    next = (struct polydl_columns){b, columns + after[2], after[0], after[0] + after[1], 0, polydl_gemm2_parts_b + (i + 1) % 2 * 24576};
    long at = 0;
    for (; at < 64; at += 32, next.begin += 16) {
      if (block[5] != set)
        POLYDL_TILE_CONFIGURE(sizes[set = block[5]]);
      if (block[1])
        polydl_tile_block(from_a, from_a + 24576 * count, panel, panel + 512, starts, starts, 1024, 32, 3072, c + block[3] + at, c + block[4] + at, 1152, count, 8, 16, POLYDL_OF_FLOATS, first, 1, 1, &next, 16, polydl_gemm2_offsets_b, 32, 0, 0, 0, 0, 0);
      else
        polydl_tile_block(from_a, from_a + 24576 * count, panel, panel + 512, starts, starts, 1024, 32, 3072, c + block[3] + at, c + block[4] + at, 1152, count, 8, 16, POLYDL_OF_FLOATS, first, 1, 0, &next, 16, polydl_gemm2_offsets_b, 32, 0, 0, 0, 0, 0);
      from_a += 24576 * count;
    }
  }
  POLYDL_TILE_RELEASE();
}
#endif
static void polydl_gemm2_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count, int first)
{
#ifdef POLYDL_HAS_TILES
  if (polydl_tiles) {
    if (1)
      polydl_gemm2_run_000(a, b, c, count, first);
    return;
  }
#endif
  polydl_gemm2_loops(a, b, c, last_m, last_n, last_k, count, first);
}
static pthread_once_t polydl_once = PTHREAD_ONCE_INIT;
static void polydl_setup(void)
{
#ifdef POLYDL_HAS_TILES
  polydl_tiles = polydl_ask_for_tiles();
#endif
}

/* C = A * B of sizes for which B is packed. */
#define matmul_panels polydl_tuned_matmul_panels
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void matmul_panels(float C[112][1152], const float A[112][1280], const float B[1280][1152])
{
  if (polydl_reserve()) {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    float (*B_tile)[64] = polydl_kept(0);
    pthread_once(&polydl_once, polydl_setup);
    #pragma omp parallel for
    for (int i = 0; i <= 111; ++i) {
      for (int j_block_ = 0; j_block_ <= 17; ++j_block_) {
        #pragma omp simd simdlen(16)
        for (int j = 0; j <= 63; ++j) {
          C[i][64 * j_block_ + j] = 0.0f;
        }
      }
    }
    for (int k_block = 0; k_block <= 4; ++k_block) {
      for (int j_block = 0; j_block <= 17; ++j_block) {
        polydl_between();
        #pragma omp parallel for
        for (int B_0 = 0; B_0 <= 255; ++B_0) {
          #pragma omp simd simdlen(16)
          for (int B_1 = 0; B_1 <= 63; ++B_1) {
            B_tile[B_0][B_1] = B[256 * k_block + B_0][64 * j_block + B_1];
          }
        }
        polydl_gemm2_run(&B_tile[0][0], &A[0][256 * k_block], &C[0][64 * j_block], 0, 0, 0, 1, 0);
      }
    }
    polydl_end(&polydl_call);
    polydl_leave();
  } else {
  for (int i = 0; i < 112; i++)
    for (int j = 0; j < 1152; j++) {
      C[i][j] = 0.0f;
      for (int k = 0; k < 1280; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
  }
}
#undef matmul_panels

/* for all processors */
void matmul_panels(float C[112][1152], const float A[112][1280], const float B[1280][1152])
{
  if (polydl_fits()) {
    polydl_tuned_matmul_panels(C, A, B);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 0; i < 112; i++)
    for (int j = 0; j < 1152; j++) {
      C[i][j] = 0.0f;
      for (int k = 0; k < 1280; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
#endif
}
void matmul_panels_release(void);
void matmul_panels_release(void)
{
  if (polydl_enter()) {
    polydl_drop();
    polydl_leave();
  }
}
const char *matmul_panels_missing(void);
const char *matmul_panels_missing(void)
{
  return polydl_missing();
}
/* for this one */
