void polydl_invoke(float a[8])
{
  for (int i = 0; i < 8; i++)
    a[i] += 1;
}
// expect: SourceError | line 1 | polydl_invoke belongs to generated code
