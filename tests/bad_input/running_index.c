void f(float a[64])
{
  int k = 0;
#pragma scop
  for (int i = 0; i < 16; ++i) {
    a[k] = i;
    k = k + i;
  }
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | affine
