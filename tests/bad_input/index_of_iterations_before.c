void ring(float a[100], const float b[8])
{
  int y = 0;
#pragma scop
  for (int i = 0; i < 100; ++i) {
    y = y + 1;
    if (y == 4)
      y = 0;
    a[i] = b[y];
  }
#pragma endscop
}
// expect: UnsupportedConstructError | line 7 | the condition depends on data
