void watch(int *counter);
void f(float a[16])
{
  int i;
  watch(&i);
#pragma scop
  for (i = 0; i < 16; ++i)
    a[i] = 0;
#pragma endscop
}
// expect: UnsupportedConstructError | line 5 | the loop counter i may be read through a pointer
