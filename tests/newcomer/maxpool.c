#define C 16
#define H 28
#define W 28
void maxpool(float out[C][H / 2][W / 2], int index[C][H / 2][W / 2], const float in[C][H][W])
{
  for (int c = 0; c < C; c++)
    for (int y = 0; y < H / 2; y++)
      for (int x = 0; x < W / 2; x++) {
        float best = in[c][2 * y][2 * x];
        int at = 2 * y * W + 2 * x;
        for (int dy = 0; dy < 2; dy++)
          for (int dx = 0; dx < 2; dx++)
            if (in[c][2 * y + dy][2 * x + dx] > best) {
              best = in[c][2 * y + dy][2 * x + dx];
              at = (2 * y + dy) * W + 2 * x + dx;
            }
        out[c][y][x] = best;
        index[c][y][x] = at;
      }
}
