void f(float a[16])
{
#pragma scop
  for (int i = 0; i >= 0; ++i)
    a[0] += i;
#pragma endscop
}
// expect: UnsupportedConstructError | line 4 | never ends
