/* Tile registers (AMX) in plain C: what Intel's manual (volume 2, LDTILECFG to TILEZERO, TDPBF16PS, TDPBSSD) says of
   the instructions that `c-amx` uses. Tiles that are too large, or that don't fit one another, end the process. */
#ifndef TILES_IN_C_TILES_H
#define TILES_IN_C_TILES_H

#include <math.h>
#include <string.h>

#define TILE static inline __attribute__((unused))

static _Thread_local struct {
  int configured;
  unsigned char rows[8];
  unsigned short bytes[8]; /* of a row */
  unsigned char content[8][16][64];
} tiles;

TILE void tile_expect(int holds)
{
  if (!holds)
    __builtin_trap();
}

TILE void tile_configure(const void *from)
{
  const unsigned char *configuration = from;
  tile_expect(configuration[0] == 1 && configuration[1] == 0);
  memset(&tiles, 0, sizeof tiles);
  tiles.configured = 1;
  for (int t = 0; t < 8; ++t) {
    memcpy(tiles.bytes + t, configuration + 16 + 2 * t, 2);
    tiles.rows[t] = configuration[48 + t];
    tile_expect(tiles.bytes[t] <= 64 && tiles.rows[t] <= 16 && !tiles.bytes[t] == !tiles.rows[t]);
  }
}

TILE void tile_release(void) { memset(&tiles, 0, sizeof tiles); }

TILE void tile_zero(int t)
{
  tile_expect(tiles.rows[t]);
  memset(tiles.content[t], 0, sizeof tiles.content[t]);
}

TILE void tile_load(int t, const void *from, long stride)
{
  tile_zero(t);
  for (int row = 0; row < tiles.rows[t]; ++row)
    memcpy(tiles.content[t][row], (const char *)from + row * stride, tiles.bytes[t]);
}

TILE void tile_store(int t, void *to, long stride)
{
  tile_expect(tiles.rows[t]);
  for (int row = 0; row < tiles.rows[t]; ++row)
    memcpy((char *)to + row * stride, tiles.content[t][row], tiles.bytes[t]);
}

/* Denormal numbers count as zero. */
TILE float tile_flushed(float value) { return fabsf(value) < 0x1p-126f ? copysignf(0, value) : value; }

TILE float tile_bfloat16(const unsigned char *from)
{
  unsigned bits = (unsigned)from[0] << 16 | (unsigned)from[1] << 24;
  float value;
  memcpy(&value, &bits, sizeof value);
  return tile_flushed(value);
}

TILE int tile_byte(const unsigned char *from, int is_signed) { return is_signed ? (signed char)*from : *from; }

/* c += b * a. The tile a has the elements of a group of steps side by side. */
TILE void tile_dot(const char *name, int c, int b, int a)
{
  tile_expect(tiles.rows[c] == tiles.rows[b] && tiles.bytes[c] == tiles.bytes[a]);
  tile_expect(tiles.bytes[b] == 4 * tiles.rows[a] && tiles.rows[a]);
  for (int row = 0; row < tiles.rows[c]; ++row)
    for (int group = 0; group < tiles.rows[a]; ++group)
      for (int column = 0; column < tiles.bytes[c] / 4; ++column) {
        unsigned char *sum = tiles.content[c][row] + 4 * column;
        const unsigned char *x = tiles.content[b][row] + 4 * group, *y = tiles.content[a][group] + 4 * column;
        if (strcmp(name, "tdpbf16ps") == 0) {
          float value;
          memcpy(&value, sum, 4);
          for (int step = 0; step < 2; ++step)
            value = tile_flushed(fmaf(tile_bfloat16(x + 2 * step), tile_bfloat16(y + 2 * step), tile_flushed(value)));
          memcpy(sum, &value, 4);
        } else {
          unsigned value;
          memcpy(&value, sum, 4);
          for (int step = 0; step < 4; ++step)
            value += (unsigned)(tile_byte(x + step, name[4] == 's') * tile_byte(y + step, name[5] == 's'));
          memcpy(sum, &value, 4);
        }
      }
}
#endif
