/* x = w + y + z.
 *
 * Override a size with -D.
 */
#ifndef N
#define N 8388608
#endif

void vadd(const float w[N], const float y[N], const float z[N], float x[N])
{
#pragma scop
  for (int i = 0; i < N; ++i)
    x[i] = w[i] + y[i];

  for (int i = 0; i < N; ++i)
    x[i] = x[i] + z[i];
#pragma endscop
}
