#include <stdint.h>
#define H 48
#define W 64
void blur(const uint8_t *src, uint8_t *dst)
{
  for (int y = 1; y < H - 1; y++)
    for (int x = 1; x < W - 1; x++) {
      int sum = 0;
      for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
          sum += src[(y + dy) * W + x + dx];
      dst[y * W + x] = sum / 9;
    }
}
