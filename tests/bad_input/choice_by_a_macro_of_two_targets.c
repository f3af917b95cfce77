#define OVER b[i] > a[0] + c[0]
void f(float a[16], const float b[16], float c[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    if (OVER) {
      a[0] = b[i];
      c[0] = i;
    }
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | condition
