void f(float a[16])
{
  int i = 0;
#pragma scop
  while (i < 16) {
    a[i] = 1;
    i = i + 1;
  }
#pragma endscop
}
// expect: UnsupportedConstructError | line 5 | while
