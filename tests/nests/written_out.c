// Compound assignments that pet lacks, sizeof, characters, and blocks that run once.
#define COUNT(x) (sizeof(x) / sizeof((x)[0]))
#define AT(p, i) ((p)[(i)])
#define ROW(p, i, j) AT((p)[i], j)
#define UPPER(c) ((c) - 'a' + 'A')
#define ONCE(x, y) \
  do { \
    float sum_ = (x) + (y); \
    (x) = sum_ * sum_; \
  } while (0)
static const float table[7] = {1, 2, 3};
static const short narrow = 8;
void nest(unsigned char a[16], const char b[16], float c[16], unsigned d[16], int e[16], int g[4][4])
{
#pragma scop
  for (unsigned i = 0; i < 16; ++i) {
    a[i] <<= b[i] & 3;
    a[i] %= 17;
    a[i] += b[i] >= 'a' - 100 ? UPPER(b[i]) : '\x20';
    unsigned hash = a[i] + d[i];
    hash ^= hash << 13;
    hash >>= 3;
    d[i] = hash;
    e[i] %= (int)(sizeof(double) - 3);
    e[i] >>= 1;
    if (i > 3)
      ONCE(c[i], 2 * table[6]);
    do {
      c[i] += sizeof e[i] * e[i] + sizeof(narrow) * narrow;
    } while (0);
  }
  for (int i = 0; i < (int)COUNT(table); ++i)
    AT(c, i) += (table)[i] + AT((b), i);
  for (int i = 0; i < 4; ++i)
    ROW(g, i, 3 - i) += (g[i])[0];
#pragma endscop
}
