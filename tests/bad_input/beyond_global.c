static float table[4][4];
void f(float a[16])
{
#pragma scop
  for (int i = 0; i < 16; ++i)
    a[i] = table[i / 4][i];
#pragma endscop
}
// expect: OutOfBoundsError | line 6 | table
