/* A linear layer of quantized numbers: bytes less a zero point, summed as int, scaled, and rounded to bytes again. */
#include <math.h>

enum { M = 128, N = 768, K = 768 };

void linear_quantized(unsigned char Y[M][N], const unsigned char A[M][K], const signed char B[K][N], const int bias[N],
                      const float scale[N], int zero, float zero_of_y)
{
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      int sum = bias[j];
      for (int k = 0; k < K; ++k)
        sum += ((int)A[i][k] - zero) * (int)B[k][j];
      float y = rintf((float)sum * scale[j]) + zero_of_y;
      if (y < 0.0f)
        y = 0.0f;
      if (y > 255.0f)
        y = 255.0f;
      Y[i][j] = (unsigned char)y;
    }
}
