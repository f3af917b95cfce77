void f(float a[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[i] = 0;
}
// expect: SourceError | line 3 | never closed
