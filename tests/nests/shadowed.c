// Counters and variables that hide others of the same name.
float t;
void nest(float a[5][4], float b[5], int i)
{
  b[0] = i;
#pragma scop
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 4; ++j)
      for (int i = 0; i < 2; ++i)
        a[i][j] += b[i];
    for (int j = 0; j < 3; ++j) {
      float t = a[i][j];
      b[i] += t * j;
    }
    for (int j = 0; j < 2; ++j) {
      double t = b[i];
      a[i][j] = t / 2;
    }
    t += b[i];
  }
#pragma endscop
}
