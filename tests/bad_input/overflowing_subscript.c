void f(float *a)
{
#pragma scop
  for (int i = 0; i < 2; ++i)
    a[i * 2147483647 + 1] = 0;
#pragma endscop
}
// expect: UnsupportedConstructError | line 3 | overflow
