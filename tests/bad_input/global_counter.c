int i;
void f(float a[16])
{
#pragma scop
  for (i = 0; i < 16; ++i)
    a[i] = 0;
#pragma endscop
}
// expect: UnsupportedConstructError | line 5 | global
