void f(float *a)
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[2 * i - 3] = 0;
#pragma endscop
}
// expect: OutOfBoundsError | line 5 | from -3
