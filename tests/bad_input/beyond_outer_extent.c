void f(float a[8][16])
{
#pragma scop
  for (int i = 0; i < 9; ++i)
    a[i][0] = 0;
#pragma endscop
}
// expect: OutOfBoundsError | line 5 | extent is 8
