void f(float a[32], const float b[31])
{
#pragma scop
  for (int i = 0; i < 32; ++i)
    if (b[i] > 0 && i < 31)
      a[i + 1] = 1;
#pragma endscop
}
// expect: OutOfBoundsError | line 5 | subscript 1 of b
