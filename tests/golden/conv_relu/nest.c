/* A 3x3 convolution blocked by 16 channels, from zero, with a bias and ReLU behind it. */
void conv_relu(float output[2][2][12][14][16], const float filter[2][2][3][3][16][16],
               const float input[2][2][14][16][16], const float bias[2][16])
{
#pragma scop
  for (int img = 0; img < 2; ++img)
    for (int ofm_tile = 0; ofm_tile < 2; ++ofm_tile)
      for (int oj = 0; oj < 12; ++oj)
        for (int oi = 0; oi < 14; ++oi)
          for (int ofm = 0; ofm < 16; ++ofm)
            output[img][ofm_tile][oj][oi][ofm] = 0.0f;
  for (int img = 0; img < 2; ++img)
    for (int ofm_tile = 0; ofm_tile < 2; ++ofm_tile)
      for (int ifm_tile = 0; ifm_tile < 2; ++ifm_tile)
        for (int oj = 0; oj < 12; ++oj)
          for (int kj = 0; kj < 3; ++kj)
            for (int ki = 0; ki < 3; ++ki)
              for (int oi = 0; oi < 14; ++oi)
                for (int ofm = 0; ofm < 16; ++ofm)
                  for (int ifm = 0; ifm < 16; ++ifm)
                    output[img][ofm_tile][oj][oi][ofm] +=
                        filter[ofm_tile][ifm_tile][kj][ki][ifm][ofm] * input[img][ifm_tile][oj + kj][oi + ki][ifm];
  for (int img = 0; img < 2; ++img)
    for (int ofm_tile = 0; ofm_tile < 2; ++ofm_tile)
      for (int oj = 0; oj < 12; ++oj)
        for (int oi = 0; oi < 14; ++oi)
          for (int ofm = 0; ofm < 16; ++ofm)
            output[img][ofm_tile][oj][oi][ofm] = output[img][ofm_tile][oj][oi][ofm] + bias[ofm_tile][ofm] > 0.0f
                                                     ? output[img][ofm_tile][oj][oi][ofm] + bias[ofm_tile][ofm]
                                                     : 0.0f;
#pragma endscop
}
