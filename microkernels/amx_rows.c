/* Tiles of operands that lie row by row, with k contiguous. */
#ifndef POLYDL_TILES_OF_ROWS
#define POLYDL_TILES_OF_ROWS
#ifdef POLYDL_HAS_TILES
/* Four bytes of each of 16 rows side by side, then the next four: a tile of A whose rows, ``apart`` bytes from each other,
   have groups of steps of k side by side. Fewer rows leave what follows theirs undefined. */
POLYDL_TILE_FUNCTION void polydl_transpose_groups(const void *first, long apart, unsigned short *to, int groups, int rows)
{
  const __mmask16 some = groups >= 16 ? 0xffff : (__mmask16)((1u << groups) - 1);
  const char *from = first;
  __m512i x[16], y[16];
  for (int i = 0; i < 16; ++i)
    x[i] = _mm512_maskz_loadu_epi32(some, from + (i < rows ? i : rows - 1) * apart);
  for (int i = 0; i < 16; i += 2) {
    y[i] = _mm512_unpacklo_epi32(x[i], x[i + 1]);
    y[i + 1] = _mm512_unpackhi_epi32(x[i], x[i + 1]);
  }
  for (int i = 0; i < 16; i += 4)
    for (int j = 0; j < 2; ++j) {
      x[i + 2 * j] = _mm512_unpacklo_epi64(y[i + j], y[i + 2 + j]);
      x[i + 2 * j + 1] = _mm512_unpackhi_epi64(y[i + j], y[i + 2 + j]);
    }
  for (int i = 0; i < 4; ++i) {
    const __m512i even = _mm512_shuffle_i32x4(x[i], x[i + 4], 0x88), odd = _mm512_shuffle_i32x4(x[i], x[i + 4], 0xdd);
    const __m512i low = _mm512_shuffle_i32x4(x[i + 8], x[i + 12], 0x88);
    const __m512i high = _mm512_shuffle_i32x4(x[i + 8], x[i + 12], 0xdd);
    y[i] = _mm512_shuffle_i32x4(even, low, 0x88);
    y[i + 4] = _mm512_shuffle_i32x4(odd, high, 0x88);
    y[i + 8] = _mm512_shuffle_i32x4(even, low, 0xdd);
    y[i + 12] = _mm512_shuffle_i32x4(odd, high, 0xdd);
  }
  for (int i = 0; i < 16; ++i)
    if (i < groups)
      _mm512_store_si512(to + 32 * i, y[i]);
}
/* The same of floats, which are split first. Rows lie pages apart: what the step after the next one reads is fetched. */
POLYDL_TILE_FUNCTION void polydl_transpose_split(
    const float *from, long apart, unsigned short *to, long plane, int pairs, int rows)
{
  unsigned short parts[3][16][32] __attribute__((aligned(64)));
  for (int i = 0; i < rows; ++i) {
    __builtin_prefetch(from + i * apart + 4 * pairs, 0, 2);
    __builtin_prefetch(from + i * apart + 4 * pairs + 16, 0, 2);
    polydl_split_run(from + i * apart, parts[0][i], 16 * 32, 2 * pairs);
  }
  for (int p = 0; p < 3; ++p)
    polydl_transpose_groups(parts[p], 64, to + p * plane, pairs, rows);
}
#endif
#endif
