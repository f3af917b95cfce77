void f(float a[16], float b[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[i] = 1 + (b[i] = 0);
#pragma endscop
}
// expect: UnsupportedConstructError | line 5 | assignment
