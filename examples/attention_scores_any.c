/* The scores of attention, a product for each head, of any number of heads and any sequence: the sizes are parameters.
 *
 *   polydl library examples/attention_scores_any.c -D D=64 --range H=1..16 --range S=1..4096
 */
void scores(int H, int S, int D, float out[H][S][S], const float query[H][S][D], const float key[H][S][D])
{
#pragma scop
  for (int h = 0; h < H; ++h)
    for (int i = 0; i < S; ++i)
      for (int j = 0; j < S; ++j) {
        out[h][i][j] = 0;
        for (int d = 0; d < D; ++d)
          out[h][i][j] += query[h][i][d] * key[h][j][d];
      }
#pragma endscop
}
