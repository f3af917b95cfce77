void malloc(float a[8])
{
  for (int i = 0; i < 8; i++)
    a[i] += 1;
}
// expect: SourceError | line 1 | `malloc` is something else in the C library's headers
