void kernel(float *c);
void f(float c[16])
{
#pragma scop
  for (int i = 0; i < 4; ++i) {
#pragma polydl microkernel(for (int j = 0; j < 4; ++j) d[4 * i + j] = 0;)
    kernel(&c[4 * i]);
  }
#pragma endscop
}
// expect: SourceError | line 7 | undeclared
