void f(float a[16], const float b[16], float c[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    if (b[i] > a[0]) {
      a[0] = b[i];
      c[0] += a[0];
    }
#pragma endscop
}
// expect: UnsupportedConstructError | line 5 | condition
