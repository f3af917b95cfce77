float total;
void f(const float a[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i) {
    extern float total;
    total += a[i];
  }
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | extern
