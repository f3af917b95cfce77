void f(float *a)
{
  a += 16;
#pragma scop
  for (int j = 0; j < 16; ++j)
    a[j] = 0;
#pragma endscop
}
// expect: UnsupportedConstructError | line 3 | moved
