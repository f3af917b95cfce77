// Statements of macros that choose by data, and blocks that run once and end early.
#define RAISE(x, v) \
  do { \
    if ((v) > (x)) /* by data */ \
      (x) = (v); \
  } while (0)
#define LOWER(x, v) if ((v) < (x)) { (x) = (v); }
#define BOTH(x, low, high) do { RAISE(x, low); LOWER(x, high); } while (0)
#define FLIP do { if (b[i] < 0) b[i] = -b[i]; } while (0)
#define LARGER(p, q) ((p) > (q) ? (p) : (q))
void nest(float a[24], float b[24], int c[24])
{
#pragma scop
  for (int i = 0; i < 24; ++i) {
    RAISE(a[i], b[i]);
    if (i > 2)
      RAISE (a[i], LARGER(b[i - 1], 0.5f * b[i - 2]));
    else
      LOWER(a[i], 0)
    BOTH(b[i], -1, 1.5f);
    FLIP;
    do {
      if (i == 7)
        break;
      if (a[i] > 1) { continue; }
      a[i] += 3;
    } while (0);
    do {
      for (int j = 0; j < 5; ++j) {
        if (j == 2)
          continue;
        c[i] += j;
      }
    } while (0);
    if (i < 20)
      do { c[i] *= 3; if (c[i] < 0) break; c[i] += 1; } while (0);
    else
      c[i] -= 1;
  }
#pragma endscop
}
