void kernel(float *c);
void f(float c[16])
{
#pragma scop
#pragma polydl kernel
  for (int i = 0; i < 4; ++i)
    c[i] = 0;
#pragma endscop
}
// expect: SourceError | line 5 | not complete
