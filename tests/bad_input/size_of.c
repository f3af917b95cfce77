void f(float a[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[i] = sizeof(a[i]);
#pragma endscop
}
// expect: UnsupportedConstructError | line 5 | sizeof
