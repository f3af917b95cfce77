// Choices by data and chains of assignments.
#define HIGHER b[j] > most
#define HIGHEST most
#define LEAST(x) ((x) < -1.5f ? (x) : -1.5f)
void choices(float a[20], const float b[20], double c[20], int d[20], const int e[20], unsigned char f[20])
{
#pragma scop
  for (int i = 0; i < 20; ++i) {
    a[i] = c[i] = d[i] = e[i] + 1;
    if (b[i] < 0) /* a comment; with a semicolon */
      a[i] = 0;
    if (b[i] > 1.0f) {
      c[i] += b[i] * 2;
    } else
      c[i] = -b[i];
    if (e[i] % 2 == 0 && b[i] < LEAST(a[i])) { c[i] *= 3; }
    int v = e[i] * 7;
    if (v > 50)
      v = 50;
    if (v < -50) v = -50;
    d[i] += v;
    if (i > 3) {
      if (i < 17 && d[i] > 0)
        f[i] = d[i];
      else
        f[i] -= 3;
    }
    if (b[i] > 0)
      if (c[i] > 1)
        c[i] = 1;
    float most = b[0];
    int at = 0;
    for (int j = 1; j < 20; ++j)
      if (b[j] > most && j != i) {
        most = b[j]; /* which comes last, since the condition asks for it */
        at = j;
      }
    for (int j = 0; j < 20; ++j)
      if (HIGHER - 0.5f * -e[j]) {
        HIGHEST = b[j];
        at += j;
      }
    a[i] += most;
    d[i] -= at;
    if (c[i] < 0.5f) {
      f[i] += d[i];
      d[i] = at + f[i];
      c[i] -= most;
    }
  }
#pragma endscop
}
