void f(float a[16])
{
#pragma scop
  float last = 0;
  for (int i = 0; i < 16; ++i)
    last += a[i];
#pragma endscop
  a[0] = last;
}
// expect: UnsupportedConstructError | line 8 | behind
