void f(float a[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[i] = 2 * ;
#pragma endscop
}
// expect: SourceError | line 5 | expected
