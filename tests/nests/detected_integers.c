// No pragma, and integers that hold data in front of the loops and between them.
void nest(int a[8], const int p[8], const int q[8])
{
  int zero = p[0], one = q[p[1] * 0];
  float half = p[2] / 2;
  for (int i = 0; i < 8; ++i)
    a[i] = (a[i] - zero) * one;
  int last = a[7];
  for (int i = 0; i < 8; ++i)
    a[i] -= last * half;
}
