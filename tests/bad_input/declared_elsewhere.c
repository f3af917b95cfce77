extern float table[];
void f(float a[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[i] = table[i];
#pragma endscop
}
// expect: UnknownSizeError | line 1 | table
