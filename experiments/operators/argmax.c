/* The place of the greatest element of each row */
void argmax(int place[256], const float x[256][1000])
{
  for (int i = 0; i < 256; i++) {
    float most = x[i][0];
    int at = 0;
    for (int j = 1; j < 1000; j++)
      if (x[i][j] > most) {
        most = x[i][j];
        at = j;
      }
    place[i] = at;
  }
}
