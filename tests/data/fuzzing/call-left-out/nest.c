void nest(double B[9][5])
{
#pragma scop
  for (int i0 = 1; i0 < 5; i0++) {
    for (int i1 = 0; i1 < i0 + 1; i1++) {
      B[2 * i1][i0] = B[i1][i0];
    }
  }
#pragma endscop
}
