#define STEP k += 2; m += 1
void f(float a[64])
{
  int k = 0, m = 0;
#pragma scop
  for (int i = 0; i < 16; ++i) {
    a[k + m] = i;
    STEP;
  }
#pragma endscop
}
// expect: UnsupportedConstructError | line 7 | k gets its value from iterations before
