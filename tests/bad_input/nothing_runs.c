#define SIZE 0
void f(float a[16])
{
#pragma scop
  for (int i = 0; i < SIZE; ++i)
    a[i] = 0;
#pragma endscop
}
// expect: NoScopError | line 5 | no iteration
