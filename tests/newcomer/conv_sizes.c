void conv2d(int ch, int filters, int h, int w, int kh, int kw, const float *in, const float *weight, float *out)
{
  for (int f = 0; f < filters; f++)
    for (int y = 0; y < h - kh + 1; y++)
      for (int x = 0; x < w - kw + 1; x++) {
        float acc = 0;
        for (int c = 0; c < ch; c++)
          for (int i = 0; i < kh; i++)
            for (int j = 0; j < kw; j++)
              acc += in[(c * h + y + i) * w + x + j] * weight[((f * ch + c) * kh + i) * kw + j];
        out[(f * (h - kh + 1) + y) * (w - kw + 1) + x] = acc;
      }
}
