#include <math.h>
#define T 32
#define D 16
void attention(float q[T][D], float k[T][D], float v[T][D], float out[T][D])
{
  static float scores[T][T];
  for (int i = 0; i < T; i++) {
    float max = -INFINITY, sum = 0;
    for (int j = 0; j < T; j++) {
      float s = 0;
      for (int d = 0; d < D; d++)
        s += q[i][d] * k[j][d];
      scores[i][j] = s / sqrtf(D);
      if (scores[i][j] > max)
        max = scores[i][j];
    }
    for (int j = 0; j < T; j++) {
      scores[i][j] = expf(scores[i][j] - max);
      sum += scores[i][j];
    }
    for (int d = 0; d < D; d++) {
      float acc = 0;
      for (int j = 0; j < T; j++)
        acc += scores[i][j] * v[j][d];
      out[i][d] = acc / sum;
    }
  }
}
