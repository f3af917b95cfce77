int f(float a[16])
{
  int i;
#pragma scop
  for (i = 0; i < 16; ++i)
    a[i] = 0;
#pragma endscop
  return i;
}
// expect: UnsupportedConstructError | line 8 | behind
