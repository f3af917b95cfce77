void f(float a[64])
{
  int n = 32;
#pragma scop
  for (int i = 0; i < n; i++) {
    a[i] += 1;
    n -= 1;
  }
#pragma endscop
}
// expect: UnsupportedConstructError | line 7 | the loop's bound n is changed in its body
