void memset(float a[8])
{
  for (int i = 0; i < 8; i++)
    a[i] = 0;
}
// expect: SourceError | line 1 | memset belongs to the compiler
