static float memset[8];
void f(float a[8])
{
  for (int i = 0; i < 8; i++)
    a[i] = memset[i];
}
// expect: SourceError | line 1 | memset belongs to the compiler
