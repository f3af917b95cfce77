void f(float a[16])
{
  int j;
#pragma scop
  for (int i = 0; i < 16; ++i, ++j)
    a[i] = 0;
#pragma endscop
}
// expect: UnsupportedConstructError | line 5 | comma
