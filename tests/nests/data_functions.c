// Helpers that only return a number, of the arguments' types and of others.
#include <math.h>
#define HALF 0.5f
#define LARGER(p, q) ((p) > (q) ? (p) : (q))
static float relu(float x) { return fmaxf(x, 0.0f); }
static inline float lower(float v, float top) { return v < top ? v : top; }
static inline float clampf(float x, float low, float high) { return lower(fmaxf(x, low), high); }
static float leaky(float x)
{
  // In two branches.
  if (x < 0)
    return HALF * x;
  return x;
}
static double precise(double x) { return x * x + 1 / 3.0; }
static float narrowed(double x) { return x / 3; }
static double widened(float x) { return x / 3; }
static float truncated(float x) { return (int)(2 * x); }
static float sign(float x) { if (x < 0) return -1; else if (x > 0) return 1; return 0.5 * x; }
static float mac(float c, float a, float b) { return c + a * b; }
static float larger(float p, float q) { return LARGER(p, q); }
static float swish(float x) { return x * clampf(x + 3, 0, 6) / 6; }
static float two(float f) { return 2.f * f; }
void nest(float a[7], double b[7], float c[7][7], const float d[7][7])
{
#pragma scop
  for (int i = 0; i < 7; ++i) {
    float x = a[i];
    a[i] = relu(x) + clampf(2 * a[i], -0.5f, 1) + leaky(x - 1) * sign(x + 0.25f);
    a[i] += narrowed(x) + narrowed(i) + truncated(x) + truncated(0.3 * i) + two(swish(a[i] + x));
    b[i] = precise(b[i]) + precise(x) + widened(b[i]) + widened(precise(0.1f));
    b[i] += larger(a[i], x) + larger(fabsf(x), a[i]) + relu(- -x), b[i] *= 2;
    if (relu(a[i]) > 1)
      a[i] = sign(a[i]);
    for (int j = 0; j < 7; ++j)
      for (int k = 0; k < 7; ++k)
        c[i][j] = mac(c[i][j], d[i][k], d[k][j]);
  }
#pragma endscop
}
