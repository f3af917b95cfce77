void f(float a[16])
{
#pragma scop
  for (int i = 0; i < 16; i += 0)
    a[i] = 0;
#pragma endscop
}
// expect: UnsupportedConstructError | line 4 | advance
