/* w = alpha x + beta y.
 *
 * Override a size with -D.
 */
#ifndef N
#define N 8388608
#endif

void waxpby(const float alpha, const float beta, const float x[N], const float y[N], float w[N])
{
#pragma scop
  for (int i = 0; i < N; ++i)
    w[i] = beta * y[i];

  for (int i = 0; i < N; ++i)
    w[i] = w[i] + alpha * x[i];
#pragma endscop
}
