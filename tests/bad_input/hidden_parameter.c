void f(float c[16], const float x[16], float s)
{
  {
    double s = x[0];
#pragma scop
    for (int i = 0; i < 16; ++i)
      c[i] += s;
#pragma endscop
  }
  c[0] = s;
}
// expect: UnsupportedConstructError | line 7 | hides the parameter s
