void f(float a[200])
{
#pragma scop
  for (signed char i = 0; i < 200; ++i)
    a[i] = 0;
#pragma endscop
}
// expect: UnsupportedConstructError | line 4 | never ends
