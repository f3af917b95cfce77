/* A depthwise convolution of 3 x 3, channels first: each channel's filter is the same for a whole image. */
void taps(float output[5][9][40], const float filter[5][3][3], const float input[5][11][42])
{
#pragma scop
  for (int c = 0; c < 5; ++c)
    for (int oj = 0; oj < 9; ++oj)
      for (int oi = 0; oi < 40; ++oi)
        for (int kj = 0; kj < 3; ++kj)
          for (int ki = 0; ki < 3; ++ki)
            output[c][oj][oi] += filter[c][kj][ki] * input[c][oj + kj][oi + ki];
#pragma endscop
}
