void f(float _Complex a[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[i] = 0;
#pragma endscop
}
// expect: UnsupportedConstructError | line 1 | complex
