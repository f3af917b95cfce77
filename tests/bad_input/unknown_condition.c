void f(int mode, float a[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    if (mode > i)
      a[i] = 0;
#pragma endscop
}
// expect: UnknownSizeError | line 5 | -D mode=VALUE
