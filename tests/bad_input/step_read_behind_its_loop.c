int f(float a[64])
{
  int k = 0;
#pragma scop
  for (int i = 0; i < 16; ++i) {
    a[k] = i;
    k += 2;
  }
#pragma endscop
  return k;
}
// expect: UnsupportedConstructError | line 6 | k gets its value from iterations before
