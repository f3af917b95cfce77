void f(float a[16])
{
  int i = 0;
#pragma scop
  a[0] = 0;
  do {
    a[i] = 1;
    ++i;
  } while (i < 16);
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | do loop
