void nest(double A[35][10], double B[26], double C[29499])
{
#pragma scop
  for (int i0 = -1; i0 < 9; i0++) {
    for (int i1 = 2; i1 < i0 + 1; i1++) {
      for (int i2 = 1; i2 < i0 + 1; i2 += 3) {
        B[i1 + 2] = B[2 * i2 + i0 + 1] * B[i1];
      }
    }
    for (int i3 = 2; i3 < i0 + 1; i3++) {
      A[i3 + 3][i0 + 1] += (B[i0 + 2] * A[i0 + 1][i3 + 1]) - A[i0 + 1][i3 + 1];
    }
    for (int i4 = 2; i4 < 4; i4++) {
      for (int i5 = 25; i5 >= i4 - 1; i5--) {
        C[1031 * i5 - 471 * i0 + 43 * i4 + 3123] = C[516 * i5 + 43 * i0 + i4 + 3209] - A[i5 + i0 + 1][i4];
      }
    }
  }
#pragma endscop
}
