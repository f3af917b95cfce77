void f(float a[16])
{
  int i = 0;
#pragma scop
again:
  a[i] = 0;
  if (i < 15) goto again;
#pragma endscop
}
// expect: UnsupportedConstructError | line 7 | goto
