#define BYTES(n) ((n) * sizeof(float))
void f(float a[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[i] = BYTES(i);
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | sizeof
