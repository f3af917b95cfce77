int size(void);
void f(float a[16])
{
  int n;
  n = size();
#pragma scop
  for (int i = 0; i < n; ++i)
    a[i] = 0;
#pragma endscop
}
// expect: UnknownSizeError | line 7 | const int n
