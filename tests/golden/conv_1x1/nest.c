/* A 1x1 convolution with filters that take turns in the first cache. */
void conv_1x1(float output[8][48][64], const float filter[8][4][64][64], const float input[4][48][64])
{
#pragma scop
  for (int o = 0; o < 8; o++)
    for (int i = 0; i < 4; i++)
      for (int p = 0; p < 48; p++)
        for (int ofm = 0; ofm < 64; ofm++)
          for (int ifm = 0; ifm < 64; ifm++)
            output[o][p][ofm] += filter[o][i][ifm][ofm] * input[i][p][ifm];
#pragma endscop
}
