void remainders(int a[64])
{
#pragma scop
  for (int i = 0; i < 64; ++i)
    a[i] %= 17;
#pragma endscop
}
// expect: UnsupportedConstructError | line 5 | write it out, such as x = x % y
