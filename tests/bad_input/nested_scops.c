void f(float a[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i) {
#pragma scop
    a[i] = 0;
#pragma endscop
  }
#pragma endscop
}
// expect: SourceError | line 5 | line 3
