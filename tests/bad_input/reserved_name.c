static int max(int a, int b) { return a < b ? a : b; }
void f(float a[16])
{
#pragma scop
  for (int i = max(3, 0); i < 16; ++i)
    a[i] = 0;
#pragma endscop
}
// expect: UnsupportedConstructError | line 5 | rename
