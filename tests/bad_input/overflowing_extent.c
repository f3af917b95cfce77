#define ROWS 100000
#define COLUMNS 100000
void f(float a[ROWS * COLUMNS])
{
#pragma scop
  for (int i = 0; i < ROWS; ++i)
    a[i] = 0;
#pragma endscop
}
// expect: SourceError | line 3 | overflow
