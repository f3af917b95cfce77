#include <math.h>
#define H 32
#define X 24
static float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }
void lstm_cell(const float x[X], const float wx[4 * H][X], const float wh[4 * H][H], const float b[4 * H], float h[H],
               float c[H])
{
  float gates[4 * H];
  for (int g = 0; g < 4 * H; g++) {
    gates[g] = b[g];
    for (int i = 0; i < X; i++)
      gates[g] += wx[g][i] * x[i];
    for (int i = 0; i < H; i++)
      gates[g] += wh[g][i] * h[i];
  }
  for (int i = 0; i < H; i++) {
    c[i] = sigmoid(gates[H + i]) * c[i] + sigmoid(gates[i]) * tanhf(gates[2 * H + i]);
    h[i] = sigmoid(gates[3 * H + i]) * tanhf(c[i]);
  }
}
