void fill(float *x, int n)
{ for (int i = 0; i < n; ++i) x[i] = 0; }
void f(float a[16][16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    fill(a[i], 16);
#pragma endscop
}
// expect: UnsupportedConstructError | line 7 | fill
