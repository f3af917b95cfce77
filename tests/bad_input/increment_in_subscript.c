void f(float a[16])
{
  int k = 0;
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[k++] = 0;
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | increment
