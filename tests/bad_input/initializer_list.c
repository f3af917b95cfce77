void f(float a[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i) {
    float t[2] = {1, 2};
    a[i] = t[0];
  }
#pragma endscop
}
// expect: UnsupportedConstructError | line 5 | initializer
