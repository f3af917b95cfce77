#define polydl_min(a, b) 0
void f(float a[8])
{
  for (int i = 0; i < 8; i++)
    a[i] += 1;
}
// expect: SourceError | line 1 | polydl_min belongs to generated code
