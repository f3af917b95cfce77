struct complex { float re, im; };
void f(struct complex a[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[i].re = a[i].im;
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | struct
