#pragma scop
float a[16];
#pragma endscop
void f(void)
{
  for (int i = 0; i < 16; ++i)
    a[i] = 0;
}
// expect: SourceError | line 1 | inside one function
