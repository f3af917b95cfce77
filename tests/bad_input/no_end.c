void f(float a[16])
{
#pragma scop
  for (;;)
    a[0] += 1;
#pragma endscop
}
// expect: UnsupportedConstructError | line 4 | never ends
