void f(float a[16])
{
#pragma scop
  a[0] = 1;
  for (int i = 0; i < 16; ++i) {
    a[i] = 0;
#pragma endscop
    a[i] += 1;
  }
}
// expect: SourceError | line 3 | same block
