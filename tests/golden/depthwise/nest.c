/* A depthwise convolution of 3 x 3 with a bias and a rectifier, channels last. */
void depthwise(float output[6][10][24], const float filter[3][3][24], const float bias[24],
               const float input[8][12][24])
{
#pragma scop
  for (int y = 0; y < 6; ++y)
    for (int x = 0; x < 10; ++x)
      for (int k = 0; k < 24; ++k)
        output[y][x][k] = bias[k];
  for (int oj = 0; oj < 6; ++oj)
    for (int oi = 0; oi < 10; ++oi)
      for (int kj = 0; kj < 3; ++kj)
        for (int ki = 0; ki < 3; ++ki)
          for (int c = 0; c < 24; ++c)
            output[oj][oi][c] += filter[kj][ki][c] * input[oj + kj][oi + ki][c];
  for (int y = 0; y < 6; ++y)
    for (int x = 0; x < 10; ++x)
      for (int k = 0; k < 24; ++k)
        output[y][x][k] = output[y][x][k] < 0.0f ? 0.0f : output[y][x][k];
#pragma endscop
}
