void f(float a[16], const float b[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    if (b[i] > 0) {
      a[i] = b[i];
      a[0] = 1;
    }
#pragma endscop
}
// expect: UnsupportedConstructError | line 5 | condition
