// A sum that is set behind the region, where a jump may lead past it, and a region that a jump leads back to.
int nest(const int a[9], float c[9])
{
  int i, sum = 1, last = 0, rounds = 0;
  if (!c)
    goto out;
  for (i = 0; i < 9; ++i)
    c[i] = a[i];
again:
  ++rounds;
#pragma scop
  for (i = 0; i < 9; ++i) {
    sum += a[i];
    last = a[i];
    c[i] += sum;
  }
#pragma endscop
  if (rounds < 2)
    goto again;
  if (a[0] != 1)
    goto out;
  sum = 0;
  last = 0;
out:
  for (i = 0; i < 2; ++i)
    sum += i;
  return sum + 3 * last;
}
