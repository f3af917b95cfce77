void f(float a[64])
{
#pragma scop
  for (int i = 0; i < 64; ++i)
    if (i & 1)
      a[i] = 0;
#pragma endscop
}
// expect: UnsupportedConstructError | line 5 | i & 1 is i % 2
