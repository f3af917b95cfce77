void f(float a[600])
{
#pragma scop
  for (signed char i = 0; i < 127; i += 2)
    a[2 * i] += 1;
#pragma endscop
}
// expect: UnsupportedConstructError | line 4 | would have to reach 128, and the largest signed char is 127
