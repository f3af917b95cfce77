void f(void)
{
  int k;
#pragma scop
  for (int i = 0; i < 16; ++i)
    k = i;
#pragma endscop
}
// expect: NoScopError | line 4 | writes no array
