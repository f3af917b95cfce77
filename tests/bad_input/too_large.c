void f(double a[1000000][1000000])
{
#pragma scop
  for (int i = 0; i < 1000000; ++i)
    a[i][i] = 0;
#pragma endscop
}
// expect: ResourceError | line 1 | GiB
