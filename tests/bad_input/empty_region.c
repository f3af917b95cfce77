void f(float a[16])
{
#pragma scop
  ;
#pragma endscop
  a[0] = 0;
}
// expect: NoScopError | line 3 | writes no array
