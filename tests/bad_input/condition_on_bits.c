void f(float a[128])
{
#pragma scop
  for (int i = -64; i < 64; ++i)
    if (i & 1)
      a[i + 64] = 0;
#pragma endscop
}
// expect: UnsupportedConstructError | line 5 | i & 1 is i % 2
