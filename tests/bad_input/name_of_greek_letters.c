void f(float a[8])
{
  const int λ = 8;
#pragma scop
  for (int i = 0; i < λ; ++i)
    a[i] = 1;
#pragma endscop
}
// expect: SourceError | line 3 | the name λ has other characters than ASCII's
