/* A 3x3 convolution over pointers, as C code often has it. */
void f(float *out, const float *in, const float *w)
{
#pragma scop
  for (int o = 0; o < 32; o++)
    for (int y = 0; y < 12; y++)
      for (int x = 0; x < 12; x++)
        for (int c = 0; c < 16; c++)
          for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++)
              out[(o * 12 + y) * 12 + x] += w[((o * 16 + c) * 3 + r) * 3 + s] * in[(c * 14 + y + r) * 14 + x + s];
#pragma endscop
}
