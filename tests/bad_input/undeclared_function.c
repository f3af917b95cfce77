void f(float a[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[i] = sqrtf(a[i]);
#pragma endscop
}
// expect: SourceError | line 5 | sqrtf
