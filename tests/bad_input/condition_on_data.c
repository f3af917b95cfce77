void f(float a[16], const float b[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i) {
    a[i] = 0;
    if (b[i] > 0)
      a[i] = b[i];
  }
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | condition
