void f(float **a)
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j)
      a[i][j] = 0;
#pragma endscop
}
// expect: UnsupportedConstructError | line 1 | pointer
