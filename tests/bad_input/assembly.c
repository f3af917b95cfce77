void f(float a[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i) {
    a[i] = 0;
    __asm__ volatile("" ::: "memory");
  }
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | assembly
