void f(float a[600])
{
#pragma scop
  for (signed char i = 126; i >= -127; i -= 3)
    if (i > 0)
      a[2 * i] += 1;
#pragma endscop
}
// expect: UnsupportedConstructError | line 4 | would have to reach -129
