// Global arrays and scalars, constants of all kinds.
enum { ROWS = 4 };
static const int COLUMNS = 2 * 3;
#define TWO 2.0f
float table[4][6];
float total;
double scale = 1;
static float hidden[6];
void nest(float a[4][6])
{
  static float kept[6];
#pragma scop
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < COLUMNS; ++j) {
      table[i][j] = a[i][j] * TWO + scale;
      hidden[j] += a[i][j];
      kept[j] = hidden[j];
      total += table[i][j];
    }
  for (int j = 0; j < COLUMNS; ++j)
    a[ROWS - 1][j] = kept[j];
#pragma endscop
}
