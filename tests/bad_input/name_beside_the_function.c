float f_release(float x) { return 2 * x; }
void f(float a[8])
{
  for (int i = 0; i < 8; i++)
    a[i] = f_release(a[i]);
}
// expect: SourceError | line 1 | f_release belongs to generated code
