void f(float alpha, float a[4])
{
#pragma scop
  for (int i = 0; i < 4; ++i)
    a[i] = alpha;
#pragma endscop
}
// expect: OptionError | line 1 | integer | alpha=2
