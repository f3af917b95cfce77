void f(float a[8])
{
  float polydl_held0[8];
  for (int i = 0; i < 8; i++) {
    polydl_held0[i] = a[i];
    a[i] = polydl_held0[i] * polydl_held0[i];
  }
}
// expect: SourceError | line 3 | polydl_held0 belongs to generated code
