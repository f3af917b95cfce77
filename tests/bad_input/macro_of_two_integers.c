#define LESS(x) ((x) - zero)
void f(int a[64], int b[4], const int p[4])
{
  {
    int zero = p[0];
    b[0] = LESS(3);
  }
  int zero = p[1];
#pragma scop
  for (int i = 0; i < 64; i++)
    a[i] = LESS(a[i]);
#pragma endscop
}
// expect: UnsupportedConstructError | line 11 | a macro names zero, which is declared more than once
