/* A linear layer of quantized numbers: the sums begin with a bias, are scaled, and leave as bytes. */
#include <math.h>

enum { M = 72, N = 96, K = 64 };

void quantized_layer(unsigned char Y[M][N], const unsigned char A[M][K], const signed char B[K][N], const int bias[N],
                     const float scale[N], int zero)
{
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      int sum = bias[j];
      for (int k = 0; k < K; ++k)
        sum += ((int)A[i][k] - zero) * (int)B[k][j];
      float y = rintf((float)sum * scale[j]);
      if (y < 0.0f)
        y = 0.0f;
      if (y > 255.0f)
        y = 255.0f;
      Y[i][j] = (unsigned char)y;
    }
}
