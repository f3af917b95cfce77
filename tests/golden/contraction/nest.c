/* A linear layer with sums in a local scalar, and an output that is added to: a tile of sums is all that is kept. */
#define M 80
#define N 224
#define K 64

void contraction(float Y[M][N], const float A[M][K], const float B[K][N], const float bias[N])
{
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      float sum = bias[j];
      for (int k = 0; k < K; ++k)
        sum += A[i][k] * B[k][j];
      Y[i][j] += sum > 0.0f ? sum : 0.0f;
    }
}
