// Signs that change nothing but the types of narrow integers.
void signs(float a[16], const float b[16], const unsigned char c[16], int d[16], long e[16], const signed char f[16])
{
#pragma scop
  for (int i = +0; i < +16; i += +1) {
    a[+i] = +1.0f * b[i] - +b[15 - +i] + + +a[i];
    d[i] = +c[i] * 2 - +-d[i];
    e[i] = 3 *+f[i] - -+c[i] + (+c[i] << 24);
    if (+d[i] > +4)
      d[i] = +4;
  }
#pragma endscop
}
