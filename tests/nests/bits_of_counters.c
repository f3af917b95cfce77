// Shifts to the right and masks of numbers that are never negative.
void nest(float y[64], const float x[64], const float t[8], int c[40], const unsigned char u[4])
{
#pragma scop
  for (int i = 0; i < 64; i++)
    y[i] += x[i >> 1] * t[i & 7] + x[(i + 3) >> 2 & 15];
  for (unsigned i = 1; i < 40; i++) {
    unsigned odd = i & 1u, half = i >> 1;
    if (i & 4)
      c[i] += half;
    if (odd)
      c[half] += u[(i - 1) & 3] >> 1;
  }
  for (int i = 39; i >= 0; i--)
    for (int j = i >> 3; j < (i & 3) + 4; j++)
      c[i] -= j;
  for (long i = 0; i < 8 << 2; i += 4)
    y[(i & 8) + (i >> 4)] -= t[(i - (i & 16)) / 4];
  for (unsigned char k = 200; k > 193; k -= 3)
    y[k & 63] += k >> 1;
#pragma endscop
}
