#define STORE(i) unsigned char k = 100 * (i); a[k] = i;
void f(float a[4096])
{
#pragma scop
  for (int i = 0; i < 16; ++i) {
    STORE(i)
  }
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | converted to unsigned char
