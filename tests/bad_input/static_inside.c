void f(float a[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i) {
    static float sum;
    sum += a[i];
    a[i] = sum;
  }
#pragma endscop
}
// expect: UnsupportedConstructError | line 5 | static
