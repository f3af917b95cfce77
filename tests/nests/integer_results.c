// Integers that the region computes for what comes behind it, beside indices that only it uses.
int nest(const int a[9], const signed char b[9], float c[9])
{
  int i, at, sum = 4, last;
  long product = 1;
#pragma scop
  for (i = 0; i < 9; ++i) {
    at = 8 - i;
    sum += a[i] * b[at];
    last = at;
    product = product * (a[i] % 5 + 6) % 1000003;
    c[at] = sum;
  }
#pragma endscop
  for (i = 0; i < 2; ++i)
    last += sum;
  return last + (int)product;
}
