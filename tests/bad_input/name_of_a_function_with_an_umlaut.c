static float doubled(float x) { return 2 * x; }
void größe(float a[8])
{
#pragma scop
  for (int i = 0; i < 8; ++i)
    a[i] = doubled(a[i]);
#pragma endscop
}
// expect: SourceError | line 2 | the name größe has other characters than ASCII's
