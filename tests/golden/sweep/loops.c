#pragma GCC diagnostic ignored "-Wunused-variable"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif


/* Loops that only some orders keep, one of them backwards. */
void sweep(float A[30][31], double x[40], double L[40][40], double b[40])
{
  {
    for (int i = 1; i <= 29; ++i) {
      for (int j = 1; j <= 29; ++j) {
        A[i][j] = 0.5f * (A[i - 1][j + 1] + A[i][j - 1]);
      }
    }
    #pragma omp parallel for simd simdlen(4)
    for (int i = -39; i <= 0; ++i) {
      x[-i] = b[-i];
    }
    for (int i = -38; i <= 0; ++i) {
      for (int j = (-i) + 1; j <= 39; ++j) {
        x[-i] = x[-i] - (L[-i][j] * x[j]);
      }
    }
  }
}
