// Shifts and other operators on bits of constants and of sizes, and counters that are shifted to the left.
// defines: n=13
#define LOGN 5
#define N (1 << LOGN)
#define HALF(x) ((x) >> 1)
void nest(int n, float a[1 << 6], const float b[4 * N], int c[N])
{
#pragma scop
  for (int i = 0; i < (1 << LOGN); ++i)
    a[i + (N >> 1)] += b[i * (1 << 1)] + b[i << 2 | 3] + b[(i << 1) + 1];
  for (int i = 0; i < N / 2; i += 1 << 1)
    c[i] += i << (2 & 3);
  for (unsigned i = 0; i < HALF(n + 1u); ++i)
    c[i << 1 << 1] -= (int)(i << 3);
  for (int i = 0; i <= (n - 1) >> 1; ++i)
    for (int j = i << 1; j < (n & ~3); ++j)
      c[j] += i * (N ^ 5);
  for (int i = 0; i < ~-9; ++i) {
    const int k = (i - 3) << 1, m = (N | 1) - i;
    if (N >> 2 == 8)
      a[k + 8] += b[m];
    if (N & 1)
      a[k + 900] = 0;
    c[i] ^= c[i] << 2;
  }
#pragma endscop
}
