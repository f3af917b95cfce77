int f(float a[16])
{
  int i;
  int *p = &i;
#pragma scop
  for (i = 0; i < 16; ++i)
    a[i] = 0;
#pragma endscop
  return *p;
}
// expect: UnsupportedConstructError | line 4 | loop counter i
