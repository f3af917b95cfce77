void down(float a[64])
{
#pragma scop
  for (unsigned i = 64; i-- > 0;)
    a[i] *= 2;
#pragma endscop
}
// expect: UnsupportedConstructError | line 4 | count in its last part
