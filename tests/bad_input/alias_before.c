void f(float a[16][16])
{
  float *row = a[2];
#pragma scop
  for (int j = 0; j < 16; ++j)
    row[j] = a[3][j];
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | row
