#define N 64u
#define PART(x) ((x) / N)
void f(int a[64], const int x[64])
{
#pragma scop
  for (unsigned i = 0; i < N; i++)
    a[i] = PART(x[i]);
#pragma endscop
}
// expect: UnsupportedConstructError | line 7 | since PART decides bounds or subscripts as well
