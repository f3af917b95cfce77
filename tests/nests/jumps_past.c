// A jump past the region, as to where errors end, and a counter that is set anew behind it.
int nest(const float *x, float c[9], float *ifm)
{
  int i, n = 0;
  if (!x)
    goto out;
#pragma scop
  for (i = 0; i < 9; ++i) {
    ifm[i] = x[i] > 0 ? x[i] : ifm[i];
    c[i] = x[i] * 2.0f;
  }
  for (i = 0; i < 4; ++i)
    ifm[i] += 1.0f;
#pragma endscop
  i = 0;
  while (i < 3)
    i++;
  n = i;
out:
  return n;
}
