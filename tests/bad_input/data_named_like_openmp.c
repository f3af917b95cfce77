static float scale;
int GOMP_parallel;
void f(float a[8])
{
  for (int i = 0; i < 8; i++)
    a[i] *= scale;
}
// expect: SourceError | line 2 | GOMP_parallel belongs to OpenMP's library
