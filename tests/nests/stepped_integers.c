// Integers that loops step by a constant, which alternate, or which go round.
// defines: n=9 inc=3
void nest(int n, int inc, float x[64], const float y[64], float u[3][16], float w[2][16])
{
#pragma scop
  int ix = 2, down;
  down = 40;
  for (int i = 0; i < n; ++i) {
    x[ix] += 2 * y[down];
    ix += inc;
    x[ix] -= down;
    down -= 2;
  }
  int next = 1;
  for (int t = 0; t < 7; ++t) {
    for (int i = 1; i < 15; ++i)
      u[next][i] += u[next][i - 1] * y[t];
    next = (next + 1) % 3;
  }
  int turn = 1;
  for (unsigned long t = 3; t < 11; t += 2) {
    for (int i = 0; i < 16; ++i)
      w[1 - turn][i] = w[turn][15 - i] + y[i];
    turn = 1 - turn;
  }
  for (int t = 6; t > 0; t -= 2) {
    long k = t;
    for (int i = t; i >= 0; --i) {
      x[k + 7] += y[k];
      k = 3 + k;
    }
    int last = 50;
    for (int i = 0; i < 5; i++) {
      --last;
      x[last] += i;
    }
  }
#pragma endscop
}
