// No pragma: what is declared in front of the loops stays there, whatever stands inside of its declarations.
float total;
void nest(float a[8], const float x[8], const int p[4])
{
  extern float total;
  static const char separator[] = ";";
  int shift = p[sizeof(";") - 2] /* of one; not of all */;
  int factor = p[1] + ';' - ';', // see the paper; it has two
      last = p[2];
  for (int i = 0; i < 8; i++) {
    total += x[i];
    a[i] = (x[i] - shift) * factor * last;
  }
}
