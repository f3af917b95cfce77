void f(float a[16])
{
#pragma scop
  for (unsigned i = 15; i >= 0; --i)
    a[i] = 0;
#pragma endscop
}
// expect: UnsupportedConstructError | line 4 | never ends
