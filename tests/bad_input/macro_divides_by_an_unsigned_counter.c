#define PUT(i) a[i] /= i + 1
void f(int a[64])
{
#pragma scop
  for (unsigned i = 0; i < 64; i++)
    PUT(i);
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | a macro uses it in a subscript as well
