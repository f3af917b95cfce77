void f(float a[16], const float b[16])
{
  int j = 15;
#pragma scop
  for (int i = 0; i < 16; j--, i++)
    a[i] += b[j];
#pragma endscop
}
// expect: UnsupportedConstructError | line 5 | count with i alone
