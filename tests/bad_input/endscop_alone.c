void f(float a[16])
{
  for (int i = 0; i < 16; ++i)
    a[i] = 0;
#pragma endscop
}
// expect: SourceError | line 5 | without
