#pragma GCC diagnostic ignored "-Wunused-variable"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif


/* Functions of <math.h> in sums and element by element. */
#include <math.h>
void softmax(float y[20][60], float x[20][60])
{
  {
    float most_of[20];
    float sum_of[20];
    #pragma omp parallel for
    for (int i = 0; i <= 19; ++i) {
      most_of[i] = x[i][0];
      for (int j = 1; j <= 59; ++j) {
        most_of[i] = fmaxf(most_of[i], x[i][j]);
      }
      sum_of[i] = 0;
      for (int j = 0; j <= 59; ++j) {
        y[i][j] = expf(x[i][j] - most_of[i]);
        sum_of[i] += y[i][j];
      }
      #pragma omp simd simdlen(8)
      for (int j = 0; j <= 59; ++j) {
        y[i][j] = sqrtf(y[i][j] / sum_of[i]);
      }
    }
  }
}
