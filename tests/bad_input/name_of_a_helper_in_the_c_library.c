static float random(float x) { return x * 3; }
void f(float a[8])
{
  for (int i = 0; i < 8; i++)
    a[i] = random(a[i]);
}
// expect: SourceError | line 1 | `random` is something else in the C library's headers
