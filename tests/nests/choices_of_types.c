// Choices whose values have types in common that would change one of them.
void choices_of_types(long x[20], const unsigned u[20], const int s[20], double d[20], const float f[20],
                      unsigned char c[20], const double g[20], float h[20])
{
#pragma scop
  for (int i = 0; i < 20; ++i) {
    // Halfway between two floats as a double, and beyond it as a long.
    x[i] += 18014399583223809;
    if (g[i] > 0)
      h[i] += g[i];
    else
      h[i] = x[i];
    if (g[i] > 0)
      x[i] = u[i];
    else
      x[i] = s[i];
    if (g[i] > 0.5)
      d[i] = f[i];
    else
      d[i] = s[i] * 16777217;
    if (s[i] > 0)
      x[i] += u[i];
    else
      x[i] -= s[i] * 3;
    if (s[i] > 3)
      c[i] = s[i] * 100;
    else
      c[i] = x[i];
    if (f[i] > 0)
      h[i] = g[i];
    else
      h[i] *= s[i];
    if (f[i] > 1) {
      h[i] += d[i];
      x[i] = u[i] - 5;
    }
  }
#pragma endscop
}
