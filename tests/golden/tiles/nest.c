#define MIN(x, y) ((x) < (y) ? (x) : (y))
void product(float c[40][36], const float a[40][24], const float b[24][36])
{
  for (int ii = 0; ii < 40; ii += 16)
    for (int kk = 0; kk < 24; kk += 9)
      for (int i = ii; i < MIN(ii + 16, 40); i++)
        for (int k = kk; k < MIN(kk + 9, 24); k++)
          for (int j = 0; j < 36; j++)
            c[i][j] += a[i][k] * b[k][j];
}
