#define ROWS for (int min = 0; min < 64; ++min)
void f(float c[64][64], const float a[64][64])
{
#pragma scop
  ROWS
    for (int j = 0; j < 64; ++j)
      c[min][j] += a[min][j];
#pragma endscop
}
// expect: UnsupportedConstructError | line 5 | the loop counter min has a name
