// Functions of the file that compute indices and bounds, and those with names of pet's.
#include <stddef.h>
static int max(int a, int b) { return a > b ? a : b; }
static inline int min(int a, int b) { return a < b ? a : b; }
static inline size_t behind(size_t a, size_t b) { return a > b ? a - b : 0; }
// Another one than pet's.
static int floord(int a, int b) { return a < b ? a : b; }
static int before(int i) { return i - 1; }
static int imax(int a, int b) { return a > b ? a : b; }
void nest(double a[20], const double b[20], int c[20])
{
#pragma scop
  for (unsigned i = 0; i < 20; ++i) {
    int last = min(i + 2, 19);
    for (int j = max(0, i - 2); j <= last; ++j)
      a[i] += b[j] + b[min(max(j, 5), 9)];
    for (size_t j = behind(i, 3); j <= i; ++j)
      a[j] -= 0.5 * b[behind(j, 2)] + b[(before(i) % 20 + 20) % 20];
    for (int j = floord(3, i); j < 4; ++j)
      c[j] += floord(c[j], 9);
    if (max(i, 7) == 7)
      c[i] = max(c[i], imax(-c[i], 3));
  }
#pragma endscop
}
