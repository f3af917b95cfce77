#define REDUCE(x) (x) %= 17
void remainders(int a[64])
{
#pragma scop
  for (int i = 0; i < 64; ++i)
    REDUCE(a[i]);
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | write it out, such as x = x % y
