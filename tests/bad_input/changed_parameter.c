void f(float a[16], float x)
{
#pragma scop
  for (int i = 0; i < 16; ++i) {
    a[i] = x;
    x = x * 2;
  }
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | parameter x
