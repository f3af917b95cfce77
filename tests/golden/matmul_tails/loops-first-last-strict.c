#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"

/* processor */

/* A product of sizes that no vector and no tile divides, summed in a local scalar. */
#define matmul_tails polydl_tuned_matmul_tails
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void matmul_tails(int n, double C[37][n], const double A[37][41], const double B[41][n], double factor)
{
  if (n == 50) {
    for (int i = 0; i <= 36; ++i) {
      for (int j = 0; j <= 49; ++j) {
        C[i][j] = 0;
        for (int k = 0; k <= 40; ++k) {
          C[i][j] += A[i][k] * B[k][j];
        }
        C[i][j] = factor * C[i][j];
      }
    }
  } else {
  for (int i = 0; i < 37; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < 41; k++)
        sum += A[i][k] * B[k][j];
      C[i][j] = factor * sum;
    }
  }
}
#undef matmul_tails

/* for all processors */
void matmul_tails(int n, double C[37][n], const double A[37][41], const double B[41][n], double factor)
{
  if (polydl_fits()) {
    polydl_tuned_matmul_tails(n, C, A, B, factor);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int i = 0; i < 37; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < 41; k++)
        sum += A[i][k] * B[k][j];
      C[i][j] = factor * sum;
    }
#endif
}
void matmul_tails_release(void);
void matmul_tails_release(void)
{
}
const char *matmul_tails_missing(void);
const char *matmul_tails_missing(void)
{
  return polydl_missing();
}
/* for this one */
