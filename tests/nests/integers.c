// Quantized products: narrow integers, an accumulator, operators on integers.
#include <stdint.h>
void nest(int32_t c[4][5], const int8_t a[4][6], const uint8_t b[6][5], uint8_t out[4][5], int32_t zero, int shift,
          int8_t narrow[20])
{
#pragma scop
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 5; ++j) {
      int32_t acc = 0;
      for (int k = 0; k < 6; ++k)
        acc += (int32_t)a[i][k] * ((int32_t)b[k][j] - zero);
      c[i][j] = acc;
      out[i][j] = (uint8_t)((acc >> (shift & 7)) + 128);
      c[i][j] ^= a[i][j] | 12;
      c[i][j] &= ~3;
      c[i][j] |= a[i][0] << 1;
      c[i][j] += c[i][j] % 7 - (c[i][j] != 4) + !a[i][j] + (a[i][1] <= 3);
    }
  for (int i = 0; i < 20; ++i)
    narrow[i] = 40 * i;
  for (int i = 0; i < 20; ++i) {
    narrow[i]++;
    --narrow[19 - i];
  }
#pragma endscop
}
