#include <math.h>
#define B 8
#define K 40
#define N 24
static inline float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }
static inline float swish(float x) { return x * sigmoid(x); }
void dense(const float x[B][K], const float w[K][N], const float bias[N], float y[B][N])
{
  for (int i = 0; i < B; i++)
    for (int j = 0; j < N; j++) {
      float sum = bias[j];
      for (int k = 0; k < K; k++)
        sum += x[i][k] * w[k][j];
      y[i][j] = swish(sum);
    }
}
