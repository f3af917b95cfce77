void f(float a[16], const float b[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[i] = i > 0 ? 0.0f : b[i - 1];
#pragma endscop
}
// expect: OutOfBoundsError | line 5 | from -1
