// Casts that change no subscript and no bound, typedefs of arrays, arrays local to a loop, narrow counters.
// defines: n=6
#include <stddef.h>
#include <stdint.h>
typedef double row[5];
void nest(int n, row *a, double *b, float c[12], const row d[6])
{
#pragma scop
  for (int8_t i = 0; i < (size_t)n; ++i) {
    const size_t base = (size_t)i * 5;
    for (int64_t j = 4; j >= 0; --j)
      b[base + (size_t)j] = d[i][(long)j] + (float)i / 4;
  }
  for (short i = 0; i < n; ++i) {
    double line[5];
    int8_t q = (int8_t)(c[i] * 10);
    for (int j = 0; j < 5; ++j)
      line[j] = b[(long long)i * 5 + j];
    for (int j = 0; j < 5; ++j)
      a[i][j] = line[4 - j] * q;
    c[2 * i + 1] += q;
  }
#pragma endscop
}
