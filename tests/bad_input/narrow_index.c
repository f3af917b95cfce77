void f(float a[4096])
{
#pragma scop
  for (int i = 0; i < 16; ++i) {
    unsigned char k = 100 * i;
    a[k] = i;
  }
#pragma endscop
}
// expect: UnsupportedConstructError | line 5 | fit into unsigned char
