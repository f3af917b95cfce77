void f(float a[64])
{
  int i;
#pragma scop
  for (i = 0; i < 32; i++)
    for (i = 0; i < 5; i++)
      a[i] += 1;
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | give the inner loop a counter of its own
