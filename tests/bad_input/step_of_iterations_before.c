void steps(float a[100], const float b[300])
{
  int y = 0;
#pragma scop
  for (int i = 0; i < 100; ++i) {
    y += 1;
    y += 2;
    a[i] = b[y - 3];
  }
#pragma endscop
}
// expect: UnsupportedConstructError | line 8 | a subscript isn't affine
