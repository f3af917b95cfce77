void f(float a[64], const float b[64])
{
  int i, j;
#pragma scop
  for (int t = 0; t < 3; t++) {
    for (i = 0, j = 2; i < 8; i++, j++)
      a[i] += b[j];
    a[j] = 3;
  }
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | count with i alone
