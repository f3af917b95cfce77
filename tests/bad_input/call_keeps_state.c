static float next(float x)
{ static float seed = 1; seed = seed * x; return seed; }
void f(float a[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[i] = next(a[i]);
#pragma endscop
}
// expect: UnsupportedConstructError | line 7 | state
