// Integers that hold data and wrap around in their types: hashes and generators of random numbers.
// defines: n=20
#include <stdint.h>
#define MIXED(x) ((x) * 0x9E3779B1)
void nest(uint32_t a[20], uint8_t b[20], int64_t c[20], short d[20], int n)
{
#pragma scop
  uint32_t state = 12345;
  for (int i = 0; i < n; ++i) {
    uint32_t k = i * 2654435761u, hashed = MIXED(i);
    k ^= k / 65536;
    a[i] = k ^ hashed;
    uint8_t narrow = i * 70;
    b[i] = narrow;
    short turned = i * 4000;
    d[i] = turned / 3;
    int64_t large = (int64_t)i * 1000000007 * 100;
    c[i] = large;
    state = state * 1664525u + 1013904223u;
    a[i] += state;
  }
  for (int i = 0; i < n; ++i) {
    int64_t stretched = i * 3000000000L;
    if (stretched > 9000000000)
      c[i] += stretched / 7;
    for (int j = 0; j < 3; ++j)
      if (i - !j < 3u)
        d[i] += j + 1;
  }
#pragma endscop
}
