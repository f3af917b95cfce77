union word { float f; int i; };
void f(union word a[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[i].f = a[i].i;
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | union
