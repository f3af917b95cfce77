#define AT(p, i) (*((p) + (i)))
void f(float *a)
{
  for (int i = 0; i < 16; ++i)
    AT(a, i) = 0;
}
// expect: UnsupportedConstructError | line 5 | dereferenc
