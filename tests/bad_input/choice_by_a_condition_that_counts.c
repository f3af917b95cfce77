#define NEXT k++
void f(float a[16], const float b[16], float c[16])
{
  int k = 0;
#pragma scop
  for (int i = 0; i < 16; ++i)
    if (b[i] > NEXT) {
      a[i] = b[i];
      c[i] = i;
    }
#pragma endscop
}
// expect: UnsupportedConstructError | line 7 | an increment inside an expression
