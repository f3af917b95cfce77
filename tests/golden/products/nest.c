/* Two products, one after the other: the second reads what the first has made. */
void products(float out[40][24], float mid[40][32], const float a[40][50], const float b[32][50], const float c[24][32])
{
#pragma scop
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 32; j++)
      for (int k = 0; k < 50; k++)
        mid[i][j] += a[i][k] * b[j][k];
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 24; j++)
      for (int k = 0; k < 32; k++)
        out[i][j] += mid[i][k] * c[j][k];
#pragma endscop
}
