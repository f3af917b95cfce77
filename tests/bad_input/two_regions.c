void f(float a[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[i] = 0;
#pragma endscop
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[i] += 1;
#pragma endscop
}
// expect: UnsupportedConstructError | line 7 | 2 regions
