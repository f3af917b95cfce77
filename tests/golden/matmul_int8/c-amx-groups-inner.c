#include <stddef.h>
#include <pthread.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
/* team */
static struct polydl_team polydl_team;
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
#ifndef POLYDL_TILE_GROUPS
#define POLYDL_TILE_GROUPS
#ifdef POLYDL_HAS_TILES
/* C += A * B for one or two tiles along n by one or two along m, of operands that lie as tile registers hold them: so
   many groups of A are rows of a tile, ``row_a`` bytes apart, and as many of B side by side in each column. Meanwhile so
   many ``lines`` for each group come into the second cache, which later calls read. */
POLYDL_TILE_FUNCTION __attribute__((always_inline)) void polydl_tile_groups(
    const void *first_a, long row_a, const void *first_b, const void *second_b, long column_b, const long *offsets_a,
    const long *offsets_b, long count, int groups, void *c0, void *c1, long ldc, int kind, int first, int wide, int deep,
    const char *ahead, int lines)
{
  const long width = kind > POLYDL_OF_BFLOAT16S ? 1 : 2;
  POLYDL_TILES_OF_C_BEGIN;
  for (long r = 0; r < count; r += groups) {
    const char *a = (const char *)first_a + offsets_a[r] * width;
    const char *b0 = (const char *)first_b + offsets_b[r] * width;
    const char *b1 = (const char *)second_b + offsets_b[r] * width;
    POLYDL_TILE_LOAD(6, a, row_a);
    if (wide) POLYDL_TILE_LOAD(7, a + 64, row_a);
    POLYDL_TILE_LOAD(4, b0, column_b);
    if (deep) POLYDL_TILE_LOAD(5, b1, column_b);
    for (int line = 0; line < lines * groups; ++line, ahead += 64)
      __builtin_prefetch(ahead, 0, 2);
    POLYDL_TILE_PRODUCTS;
  }
  POLYDL_TILES_OF_C_END;
}
#endif
#endif
static const long polydl_gemm0_offsets_a[32] = {0, 256, 512, 768, 1024, 1280, 1536, 1792, 2048, 2304, 2560, 2816, 3072, 3328, 3584, 3840, 4096, 4352, 4608, 4864, 5120, 5376, 5632, 5888, 6144, 6400, 6656, 6912, 7168, 7424, 7680, 7936};
static const long polydl_gemm0_offsets_b[32] = {0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72, 76, 80, 84, 88, 92, 96, 100, 104, 108, 112, 116, 120, 124};
static const long polydl_gemm0_rows_b[1] = {0};
static const long polydl_gemm0_rows_c[1] = {0};
static void polydl_gemm0_loops(const signed char *a, const unsigned char *b, int *c, int last_m, int last_n, int last_k, long count, int first)
{
  const long m = last_m ? 32 : 32, n = last_n ? 16 : 16, k = last_k ? 4 : 4;
  for (int q = 0; q < 1; ++q)
    for (long j = 0; j < n; ++j) {
      int *to = c + polydl_gemm0_rows_c[q] + j * 128;
      if (first)
        for (long i = 0; i < m; ++i)
          to[i] = 0;
      for (long r = 0; r < count; ++r)
        for (long i = 0; i < m; ++i) {
          const signed char *row = a + polydl_gemm0_offsets_a[r] + i * 4L;
          int sum = 0;
          for (long l = 0; l < k; ++l)
            sum += row[l] * b[polydl_gemm0_rows_b[q] + polydl_gemm0_offsets_b[r] + j * 128 + l * 1];
          to[i] += sum;
        }
    }
}
#ifdef POLYDL_HAS_TILES
static void polydl_gemm0_run_000(const signed char *a, const unsigned char *b, int *c, long count, int first)
{
  static const unsigned char sizes[][64] __attribute__((aligned(64))) = {
    {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64, 0, 64, 0, 64, 0, 64, 0, 64, 0, 64, 0, 64, 0, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 16, 1, 1, 16, 1, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0}
  };
  static const long blocks[][7] = {
    {0, 0, 0, 0, 0, 0, 0}
  };
  long set = -1, at = 0;
  for (; at < 32; at += 32) {
    for (int i = 0; i < 1; ++i) {
      const long *block = blocks[i];
      if (block[5] != set)
        POLYDL_TILE_CONFIGURE(sizes[set = block[5]]);
      if (block[4])
        polydl_tile_groups(a + at * 4L, 256, b + block[0], b + block[2], 128, polydl_gemm0_offsets_a, polydl_gemm0_offsets_b, count, 16, c + block[1] + at, c + block[3] + at, 128, POLYDL_PLAIN_SIGNED, first, 1, 1, 0, 0);
      else
        polydl_tile_groups(a + at * 4L, 256, b + block[0], b + block[2], 128, polydl_gemm0_offsets_a, polydl_gemm0_offsets_b, count, 16, c + block[1] + at, c + block[3] + at, 128, POLYDL_PLAIN_SIGNED, first, 1, 0, 0, 0);
    }
  }
  POLYDL_TILE_RELEASE();
}
#endif
static void polydl_gemm0_run(const signed char *a, const unsigned char *b, int *c, int last_m, int last_n, int last_k, long count, int first)
{
#ifdef POLYDL_HAS_TILES
  if (polydl_tiles) {
    if (1)
      polydl_gemm0_run_000(a, b, c, count, first);
    return;
  }
#endif
  polydl_gemm0_loops(a, b, c, last_m, last_n, last_k, count, first);
}
static pthread_once_t polydl_once = PTHREAD_ONCE_INIT;
static void polydl_setup(void)
{
#ifdef POLYDL_HAS_TILES
  polydl_tiles = polydl_ask_for_tiles();
#endif
}

/* A product of bytes summed as int, in groups of four, with what turns the sums into floats. */
enum { M = 48, N = 128, K = 128 };
#define matmul_int8 polydl_tuned_matmul_int8
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void matmul_int8(int C[M][N / 64][64], float D[M][N / 64][64], const unsigned char A[M][K / 4][4],
                 const signed char B[N / 64][K / 4][64][4], const float scale[N / 64][64])
{
  {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    pthread_once(&polydl_once, polydl_setup);
    for (int j_t1 = 0; j_t1 <= 1; ++j_t1) {
      polydl_between();
      #pragma omp parallel for collapse(2)
      for (int i_t1 = 0; i_t1 <= 2; ++i_t1) {
        for (int jt = 0; jt <= 1; ++jt) {
          polydl_gemm0_run(&B[jt][0][32 * (long)j_t1][0], &A[16 * (long)i_t1][0][0], &C[16 * (long)i_t1][jt][32 * (long)j_t1], 0, 0, 0, 32, 0);
        }
      }
    }
    polydl_between();
    #pragma omp parallel for
    for (int i = 0; i <= 47; ++i) {
      for (int jt = 0; jt <= 1; ++jt) {
        #pragma omp simd simdlen(16)
        for (int j = 0; j <= 63; ++j) {
          D[i][jt][j] = scale[jt][j] * (float)(C[i][jt][j]);
        }
      }
    }
    polydl_end(&polydl_call);
  }
}
#undef matmul_int8

/* for all processors */
void matmul_int8(int C[M][N / 64][64], float D[M][N / 64][64], const unsigned char A[M][K / 4][4],
                 const signed char B[N / 64][K / 4][64][4], const float scale[N / 64][64])
{
  if (polydl_fits()) {
    polydl_tuned_matmul_int8(C, D, A, B, scale);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 0; i < M; ++i)
    for (int jt = 0; jt < N / 64; ++jt)
      for (int j = 0; j < 64; ++j)
        for (int k = 0; k < K / 4; ++k)
          for (int q = 0; q < 4; ++q)
            C[i][jt][j] += (int)A[i][k][q] * (int)B[jt][k][j][q];
  for (int i = 0; i < M; ++i)
    for (int jt = 0; jt < N / 64; ++jt)
      for (int j = 0; j < 64; ++j)
        D[i][jt][j] = scale[jt][j] * (float)C[i][jt][j];
#endif
}
void matmul_int8_release(void);
void matmul_int8_release(void)
{
}
const char *matmul_int8_missing(void);
const char *matmul_int8_missing(void)
{
  return polydl_missing();
}
/* for this one */
