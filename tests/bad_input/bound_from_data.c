void f(float a[16][16], const int length[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < length[i]; ++j)
      a[i][j] = 0;
#pragma endscop
}
// expect: UnsupportedConstructError | line 5 | bounds
