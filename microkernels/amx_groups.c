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
