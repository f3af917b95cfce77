void f(float a[16], const float b[16], const int where[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[where[i]] += b[i];
#pragma endscop
}
// expect: UnsupportedConstructError | line 5 | affine
