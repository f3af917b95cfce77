void f(float a[SIZE])
{
#pragma scop
  for (int i = 0; i < SIZE; ++i)
    a[i] = 0;
#pragma endscop
}
// expect: SourceError | line 1 | -D SIZE=VALUE
