/* Maxima of 3 x 3 in steps of two, images first. */
void pooling(float output[5][9][20], const float input[5][19][41])
{
#pragma scop
  for (int c = 0; c < 5; ++c)
    for (int oj = 0; oj < 9; ++oj)
      for (int oi = 0; oi < 20; ++oi)
        for (int kj = 0; kj < 3; ++kj)
          for (int ki = 0; ki < 3; ++ki)
            output[c][oj][oi] = output[c][oj][oi] > input[c][2 * oj + kj][2 * oi + ki]
                                    ? output[c][oj][oi] : input[c][2 * oj + kj][2 * oi + ki];
#pragma endscop
}
