void f(float a[64], const float b[64])
{
  int i, j = 2;
#pragma scop
  for (i = 0, j += 3; i < 8; i++, j++)
    a[i] += b[j];
#pragma endscop
}
// expect: UnsupportedConstructError | line 5 | count with i alone
