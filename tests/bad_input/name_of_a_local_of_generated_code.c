void f(float a[8])
{
  float polydl_scalar0[8];
  for (int i = 0; i < 8; i++) {
    polydl_scalar0[i] = a[i];
    a[i] = polydl_scalar0[i] * polydl_scalar0[i];
  }
}
// expect: SourceError | line 3 | polydl_scalar0 belongs to generated code
