void f(float a[64])
{
  int i;
#pragma scop
  for (i = 0; i < 32; i++) {
    a[i] += 1;
    i++;
  }
#pragma endscop
}
// expect: UnsupportedConstructError | line 7 | the loop's counter i is changed in its body
