/* x = alpha x.
 *
 * Override a size with -D.
 */
#ifndef N
#define N 8388608
#endif

void sscal(const float alpha, float x[N])
{
#pragma scop
  for (int i = 0; i < N; ++i)
    x[i] = alpha * x[i];
#pragma endscop
}
