static int imax(int a, int b) { return a > b ? a : b; }
void clipped(int A[64])
{
#pragma scop
  for (int i = 0; i < 64; ++i)
    A[i] = imax(A[i], 3);
#pragma endscop
}
// expect: UnsupportedConstructError | line 6 | make it a macro, or rename it
