// Unsigned counters and constants keep their type in arithmetic on data.
#include <stddef.h>
#include <stdint.h>
void nest(double a[12], const int x[12], unsigned u, size_t z, long y[12])
{
#pragma scop
  for (size_t i = 0; i < 12; ++i) {
    size_t k = i + 0u;
    a[k] = x[i] * i + (x[i] - 2) * 3u;
    a[i] += u - x[i];
  }
  for (unsigned i = 1; i < 12; i += 2)
    a[i - 1] += (x[i] + 1) * (i & 3u) + z * x[0];
  for (uint8_t i = 0; i < 12; ++i)
    y[i] = (i - 5) * 2L + x[i] / 3 + x[i] % 3;
#pragma endscop
}
