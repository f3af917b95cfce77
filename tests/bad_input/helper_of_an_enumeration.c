enum kind { CLIPPED, PLAIN };
static float applied(enum kind how, float x)
{
  switch (how) {
  case CLIPPED:
    return x > 0 ? x : 0;
  default:
    return x;
  }
}
void f(float a[16], enum kind how)
{
#pragma scop
  for (int i = 0; i < 16; i++)
    a[i] = applied(how, a[i]);
#pragma endscop
}
// expect: UnsupportedConstructError | line 15 | make the parameter an int
