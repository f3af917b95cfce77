void nest(float C[7][5])
{
#pragma scop
  for (int i0 = 0; i0 < 3; i0++) {
    for (int i1 = 0; i1 < 4; i1++) {
      C[i1][2 * i0] = 1 - C[2 * i1][i0];
    }
  }
#pragma endscop
}
