void f(float a[16 * 16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j)
      a[i * j] += 1;
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | affine
