void f(unsigned char n, int a[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[i] = n;
#pragma endscop
}
// expect: OptionError | line 1 | unsigned char, which has no number 300 | n=300
