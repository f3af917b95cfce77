// pet computes the difference modulo 2^64, and the conversion with it.
void f(float a[64])
{
  for (int j = 1; j < 4; ++j)
    for (unsigned long i = 8; i > 3; --i)
      a[(j - ((int)(8UL - i) + 1)) / 3 % 32 + 32] += 1;
}
// expect: UnsupportedConstructError | line 6 | wraps around
