// Mathematical functions and helpers that only compute.
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
static const float floor_value = 0.25f;
static inline float clamp(float x, float top) { return x < floor_value ? floor_value : x > top ? top : x; }
static float sum_to(int n)
{
  float s = 0;
  for (int i = 1; i <= n; ++i) s += i;
  return s;
}
float twice(float x);
float twice(float x) { return clamp(x, 3) + x; }
void nest(float a[7], double b[7])
{
#pragma scop
  for (int i = 0; i < 7; ++i) {
    a[i] = fmaxf(a[i], 0.5f) + sqrtf(fabsf(a[i])) + clamp(a[i], 6.0f);
    b[i] = exp(-b[i] * b[i]) + abs(-i) + tanh(b[i]);
    a[i] += twice(a[i]) * sum_to(3);
  }
#pragma endscop
}
