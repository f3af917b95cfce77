// Macros with unsigned integers of which int holds all that is computed, so that their types make no difference.
#include <stddef.h>
#define N 12u
#define M 12UL
#define FLAT (i * N + j)
#define FLAT_L (p * 12ul + q)
#define IDX(i, j) ((i) * 12 + (j))
#define SET(i, j) c[IDX(i, j)] = IDX(i, j)
#define INIT(i, j) A[i][j] = ((i) * (j) % 7) * 0.25
#define PICK(i) ((i) < 4 ? x[i] : y[i])
#define HILBERT(i, j) B[i][j] = 1.0f / ((i) + (j) + 1)
#define W (i + 1)
#define SQR(x) ((x) * (x))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define LERP(a, b, t) ((a) + ((b) - (a)) * (t))
#define AVG(x) ((x) / M)
#define PART(i) ((float)(i) / (N - 1))
#define REFLECT(i, n) ((i) < 0 ? -(i) : (i) >= (n) ? 2 * (n) - 2 - (i) : (i))
void nest(float A[12][12], float B[12][12], double a[144], long c[144], const double x[12], const double y[12])
{
  const size_t n = 12;
#pragma scop
  for (unsigned i = 0; i < N; ++i)
    for (unsigned j = 0; j < 12; ++j) {
      a[FLAT] = (float)FLAT / (N * N);
      SET(i, j);
      HILBERT(i, j);
    }
  for (size_t p = 0; p < M; ++p)
    for (size_t q = 0; q < n; ++q) {
      INIT(p, q);
      a[FLAT_L] += FLAT_L;
    }
  for (unsigned i = 0; i < N; ++i) {
    a[i] += x[i] * SQR(N - 1) + y[i] * MIN(N - i, 8) + W * x[i];
    a[i] += LERP(x[i], y[i], (float)i / (N - 1)) + LERP(x[i], y[i], PART(i)) + PICK(i);
  }
  for (size_t i = 0; i < M; ++i)
    a[i] += AVG(x[i]) + x[i] * SQR(M - 1) + PICK(i) + x[REFLECT(i + 1, n)];
#pragma endscop
}
