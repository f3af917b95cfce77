enum { C = 16, H = 14, W = 14, K = 3 };
void depthwise(const float in[C][H + 2][W + 2], const float w[C][K][K], const float bias[C], float out[C][H][W])
{
  for (int c = 0; c < C; c++)
    for (int y = 0; y < H; y++)
      for (int x = 0; x < W; x++) {
        float acc = bias[c];
        for (int ky = 0; ky < K; ky++)
          for (int kx = 0; kx < K; kx++)
            acc += in[c][y + ky][x + kx] * w[c][ky][kx];
        if (acc < 0)
          acc = 0;
        out[c][y][x] = acc;
      }
}
