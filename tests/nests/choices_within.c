// Choices by data of elements that are there for some iterations alone.
#define INSIDE(x) ((x) < 19)
void choices_within(float a[20], float (*c)[20], double d[21], const float b[20], const int e[20])
{
#pragma scop
  for (int i = 0; i < 20; ++i) {
    if (i < 19 && b[i] > 0)
      a[i + 1] = b[i];
    if (e[i] > 3 && 0 < i) { a[i - 1] += 2; }
    int next = i + 1;
    if (next < 20 && (b[i] < 1 && next % 3 != 1)) {
      a[next] -= b[next];
      d[next] = a[i];
    }
    if (e[i] % 2)
      if (i < 17 && b[i] < 0) a[i] = -1;
    if (INSIDE(i) && b[i + 1] < 0) a[i + 1] = -1;
    for (unsigned long j = 0; j < 20; ++j)
      if (b[j] > 0.5f && j + 1 < 20 && !(i >= 19)) c[i + 1][j + 1] = b[i];
  }
#pragma endscop
}
