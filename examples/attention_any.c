#include <math.h>

/* Attention of any number of heads and any sequence: the sizes are parameters.
 *
 *   polydl library examples/attention_any.c -D D=64 --range H=1..16 --range S=1..4096
 */
void attention(int H, int S, int D, float out[H][S][D], float weights[H][S][S], const float query[H][S][D],
               const float key[H][S][D], const float value[H][S][D], float scale)
{
#pragma scop
  for (int h = 0; h < H; ++h)
    for (int i = 0; i < S; ++i)
      for (int j = 0; j < S; ++j) {
        weights[h][i][j] = 0;
        for (int d = 0; d < D; ++d)
          weights[h][i][j] += scale * query[h][i][d] * key[h][j][d];
      }
  for (int h = 0; h < H; ++h)
    for (int i = 0; i < S; ++i) {
      float most = weights[h][i][0];
      for (int j = 1; j < S; ++j)
        most = fmaxf(most, weights[h][i][j]);
      float sum = 0;
      for (int j = 0; j < S; ++j) {
        weights[h][i][j] = expf(weights[h][i][j] - most);
        sum += weights[h][i][j];
      }
      for (int j = 0; j < S; ++j)
        weights[h][i][j] /= sum;
    }
  for (int h = 0; h < H; ++h)
    for (int i = 0; i < S; ++i)
      for (int d = 0; d < D; ++d) {
        out[h][i][d] = 0;
        for (int j = 0; j < S; ++j)
          out[h][i][d] += weights[h][i][j] * value[h][j][d];
      }
#pragma endscop
}
