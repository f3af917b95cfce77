float libxsmm_init[64];
void f(float a[8])
{
  for (int i = 0; i < 8; i++)
    a[i] += 1;
}
// expect: SourceError | line 1 | libxsmm_init belongs to LIBXSMM
