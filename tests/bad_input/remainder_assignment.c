void f(int a[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[i] %= 3;
#pragma endscop
}
// expect: UnsupportedConstructError | line 5 | operator
