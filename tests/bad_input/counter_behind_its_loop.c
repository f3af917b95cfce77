void f(int *restrict a)
{
  int i;
#pragma scop
  for (i = 0; i < 10; i++)
    a[i] = i;
  a[20] = i;
#pragma endscop
}
// expect: UnsupportedConstructError | line 7 | counter i is read behind its loop
