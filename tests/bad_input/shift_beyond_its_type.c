void f(float a[64])
{
#pragma scop
  for (int i = 0; i < 2; ++i)
    a[i << 1000000000000] = i;
#pragma endscop
}
// expect: UnsupportedConstructError | line 5 | a subscript isn't affine
