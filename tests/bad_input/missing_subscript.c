void f(float a[16], const float b[16][16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[i] = b[i] > b[0] ? 1 : 0;
#pragma endscop
}
// expect: UnsupportedConstructError | line 5 | subscripts
