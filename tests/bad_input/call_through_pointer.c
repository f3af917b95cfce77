void f(float a[16], float (*g)(float))
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[i] = g(a[i]);
#pragma endscop
}
// expect: UnsupportedConstructError | line 5 | through a pointer
