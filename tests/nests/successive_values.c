// Indices that get several values one after the other.
// defines: h=9 w=7
void nest(int h, int w, float a[9][7], const float b[63], int c[40])
{
  int last;
#pragma scop
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x)
      for (int d = -2; d <= 2; ++d) {
        int yy = y + d, xx = x + d;
        if (yy < 0)
          yy = 0;
        if (yy >= h) {
          yy = h - 1;
        }
        xx = xx < 0 ? -xx : xx;
        xx = xx >= w ? 2 * w - 2 - xx : xx;
        a[y][x] += b[yy * w + xx] * (yy + 1);
      }
  for (int y = 0; y < h; ++y) {
    last = y;
    last *= 2;
    if (last > 5)
      last -= 3;
    else
      last = 1;
    for (int k = 0; k < last; ++k)
      c[k + last] += k * last;
    last++;
    c[last] += 1;
    --last;
    c[last] -= 2;
    unsigned char narrow = y;
    narrow = narrow * 50;
    narrow /= 8;
    c[narrow] -= y;
  }
#pragma endscop
}
