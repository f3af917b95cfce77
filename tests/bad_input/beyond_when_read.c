void conv(float out[56], const float in[56], const float w[3])
{
#pragma scop
  for (int i = 0; i < 56; ++i)
    for (int k = 0; k < 3; ++k)
      out[i] += in[i + k] * w[k];
#pragma endscop
}
// expect: OutOfBoundsError | line 6 | reaches from 0 to 57
