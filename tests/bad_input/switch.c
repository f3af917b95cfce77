void f(float a[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i) {
    switch (i % 2) {
      case 0: a[i] = 1; break;
      default: a[i] = 2;
    }
  }
#pragma endscop
}
// expect: UnsupportedConstructError | line 5 | switch
