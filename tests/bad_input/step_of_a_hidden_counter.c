void f(float a[64])
{
  int k = 0;
#pragma scop
  for (int i = 0; i < 16; ++i) {
    for (int i = 0; i < 4; ++i)
      a[k + i] = i;
    k += 2;
  }
#pragma endscop
}
// expect: UnsupportedConstructError | line 7 | k gets its value from iterations before
