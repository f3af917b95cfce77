#include <stdint.h>

/* The mean of 3 x 3 bytes; the sum is a scalar of each pixel. */
void blur(const uint8_t *src, uint8_t *dst)
{
  for (int y = 1; y < 47; y++)
    for (int x = 1; x < 63; x++) {
      int sum = 0;
      for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
          sum += src[(y + dy) * 64 + x + dx];
      dst[y * 64 + x] = sum / 9;
    }
}
