// Temporaries inside and outside of the region, some of them with the same name; values flow in and out.
float nest(float a[6][5], float alpha, const float x[5])
{
  float sum = alpha, t, y1 = 3;
#pragma scop
  for (int i = 0; i < 6; ++i) {
    t = 0;
    for (int j = 0; j < 5; ++j) {
      float t = a[i][j] * x[j];
      {
        float t = y1;
        a[i][j] += t;
      }
      sum += t;
    }
    for (int k = 0; k < 5; ++k) {
      float product;
      product = a[i][k] * alpha;
      t += product;
    }
    a[i][0] = t;
  }
#pragma endscop
  a[0][1] = sum;
  return sum;
}
