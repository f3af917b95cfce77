void f(float a[8][16])
{
#pragma scop
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 16; ++j)
      a[i][j + 1] = 0;
#pragma endscop
}
// expect: OutOfBoundsError | line 6 | from 1 to 16
