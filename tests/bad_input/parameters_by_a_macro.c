#define ARRAYS (float a[16], const float b[16])

void f ARRAYS
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[i] = b[i];
#pragma endscop
}
// expect: UnsupportedConstructError | line 3 | a macro stands for the parameters of f
