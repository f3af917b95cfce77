void f(float a[64])
{
  int k = 0;
#pragma scop
  for (int i = 0; i < 16; ++i) {
    a[k] = i;
    if (i == 3)
      continue;
    k += 2;
  }
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | k gets its value from iterations before
