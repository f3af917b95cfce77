void f(float a[16], const float b[16])
{
#pragma scop
  for (short i = 0, j = 15; i < 16; i++, j--)
    a[i] += b[j];
#pragma endscop
}
// expect: UnsupportedConstructError | line 4 | write the others as sums of it, such as x[15 - i]
