#define AT(i) ((i) + 8L)
void f(float a[64], long b[64])
{
#pragma scop
  for (int i = 0; i < 16; ++i) {
    a[AT(i)] = 0;
    b[i] = AT(i) * 1000000000;
  }
#pragma endscop
}
// expect: UnsupportedConstructError | line 7 | AT decides
