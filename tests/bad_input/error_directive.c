#ifndef SIZE
#error SIZE must be given
#endif
void f(float a[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[i] = 0;
#pragma endscop
}
// expect: SourceError | line 2 | SIZE
