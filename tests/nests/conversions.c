// Signed and unsigned integers mixed on the way to subscripts, bounds and conditions.
#include <stddef.h>
#include <stdint.h>
#define NONE (-1u)
void nest(double a[64], const double u[64], int c[32])
{
#pragma scop
  for (size_t i = 0; i < 16; ++i) {
    long before = (long)i - 1;
    int half = (int)i / 2 - 3;
    if (before >= 0)
      a[i] += u[before] + u[(half + 3) * 2];
    if ((int)i - 4 < -1)
      a[i] *= 2;
  }
  for (int i = -3; i < 12; ++i) {
    // -3 is a large number here.
    if (i - 1 < 5u)
      a[i + 20] = u[(unsigned)i / 2];
    uint8_t narrow = i * 9;
    int8_t turned = i * 30;
    a[narrow / 4] += 1;
    c[(turned + 128) / 8] += i;
    for (unsigned j = i; j < 4; ++j)
      c[j] += 1;
  }
  for (size_t i = 9; i != (size_t)-1; --i)
    c[i] += 2;
  for (unsigned i = 9; i != NONE; i -= 1)
    if (i < -3u)
      c[i] += 3;
  for (unsigned i = 0; i < 32; ++i) {
    int shifted = (int)(i - 5);
    if (shifted >= -2)
      a[shifted + 2] -= u[(uint16_t)(i - 40) % 64];
    if (i - 3 < 10)
      a[i + 30] += u[i - 3];
  }
#pragma endscop
}
