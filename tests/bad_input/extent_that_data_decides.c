void f(float *a, const float b[32], const int more[32])
{
#pragma scop
  for (int i = 0; i < 32; ++i) {
    a[i] *= 2;
    if (more[i] > 0)
      a[i + 1] = b[i];
  }
#pragma endscop
}
// expect: UnknownSizeError | line 1 | only where a condition on data holds
