#define KERNEL static inline
KERNEL void f(float y[64], const float x[64])
{
#pragma scop
  for (int i = 0; i < 64; ++i)
    y[i] += x[i];
#pragma endscop
}
// expect: UnsupportedConstructError | line 2 | a macro says that f is static
