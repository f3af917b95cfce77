void f(float a[16][16])
{
  int i, j;
#pragma scop
  for (i = 0; i < 16; ++i)
    for (j = 0; i < 16; ++j)
      a[i][j] = 0;
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | condition
