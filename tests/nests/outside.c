// What is outside of the region: variables of names that it uses, too, and a macro right behind it.
#include <assert.h>
#define HALVE(x) x = x / 2
float total;
void nest(float a[8], float *s, const float x[8])
{
  extern float total;
  {
    int t = 3;
    a[0] = t;
  }
  double t = x[0];
#pragma scop
  for (int i = 0; i < 8; ++i) {
    total += x[i] * t;
    a[i] += s[i];
  }
#pragma endscop
  HALVE(a[1]);
  assert(a[1] * 0 == 0);
  {
    float s = 1;
    a[2] = s;
  }
}
