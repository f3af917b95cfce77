// Static arrays of the function, without pragmas.
#include <math.h>
void kept(float x[6][9], float out[6])
{
  static float copy[6][9], *unused;
  static int calls = 1;
  float largest[6];
  for (int i = 0; i < 6; ++i) {
    largest[i] = -INFINITY;
    for (int j = 0; j < 9; ++j) {
      copy[i][j] = x[i][j] * 2;
      if (copy[i][j] > largest[i])
        largest[i] = copy[i][j];
    }
  }
  for (int i = 0; i < 6; ++i)
    out[i] = largest[i] + copy[i][0];
}
