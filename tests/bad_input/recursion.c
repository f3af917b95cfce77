void f(float a[16], int depth)
{
#pragma scop
  for (int i = 0; i < 16; ++i) {
    a[i] = 0;
    f(a, 1);
  }
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | itself
