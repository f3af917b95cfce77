void f(float a[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i) {
    a[i] = 1;
    if (i == 8) return;
  }
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | return
