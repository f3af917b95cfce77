/* z = w - alpha v, then r = z'u.
 *
 * Override a size with -D.
 */
#ifndef N
#define N 8388608
#endif

void axpydot(const float alpha, const float w[N], const float v[N], const float u[N], float z[N], float r[1])
{
#pragma scop
  for (int i = 0; i < N; ++i)
    z[i] = w[i] - alpha * v[i];

  for (int k = 0; k < 1; ++k)
    r[k] = 0.0f;

  for (int i = 0; i < N; ++i)
    r[0] += z[i] * u[i];
#pragma endscop
}
