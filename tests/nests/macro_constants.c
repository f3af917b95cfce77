// Constants in macros keep their types, and give the macro no other one.
#include <stdint.h>
#define THREE 3u
#define LARGE (THREE + 100000L)
#define HALF(x) ((x) * 0.5 + 3u)
#define THIRD(x) ((x) / THREE)
#define QUOTIENT(x, y) ((x) / (y))
#define LESS(x) ((x) - 20)
#define TWICE(x) ((x) * 2)
#define MANY (x[i] * 3000000000)
#define nm1 (n - 1)
#define SUM 4u + 2u
#define TOTAL SUM
#define UNSIGNED(x) x ## u
#define SET(x) { uint32_t local = (x) * 2654435761u; h[i] = local; }
void nest(double a[12], long b[12], const int x[12], uint32_t h[12])
{
  const int n = 12;
#pragma scop
  for (unsigned i = 0; i < 12; ++i) {
    a[i] = HALF(x[i]) + LESS(i) + LESS(i + 1) + QUOTIENT(x[i], 3u) + QUOTIENT(x[i], THREE);
    b[i] = THIRD(x[i]) + x[i] / THREE + x[i] * LARGE + INT64_MAX / LARGE;
    SET(i)
    a[i] += x[i] * (float)(SUM * 3) + QUOTIENT(x[i], TOTAL * 3) + x[i] / UNSIGNED(3);
  }
  for (int i = 0; i < nm1; ++i)
    b[i] += TWICE(MANY);
#pragma endscop
}
