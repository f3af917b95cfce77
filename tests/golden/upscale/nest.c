/* Twice the size along both axes, bilinear; rows of an odd number of pixels. */
#define H 8
#define W 24
void upscale(float out[2 * H][2 * W + 1], const float in[H + 1][W + 2])
{
  for (int y = 0; y < 2 * H; y++)
    for (int x = 0; x < 2 * W + 1; x++) {
      float fy = 0.5f * (y % 2), fx = 0.5f * (x % 2);
      int iy = y / 2, ix = x / 2;
      out[y][x] = (1 - fy) * ((1 - fx) * in[iy][ix] + fx * in[iy][ix + 1]) +
                  fy * ((1 - fx) * in[iy + 1][ix] + fx * in[iy + 1][ix + 1]);
    }
}
