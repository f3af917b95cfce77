// A chain of assignments that is the last statement, without braces and without pragmas.
void chain_last(float a[20], float b[20], const float c[20])
{
  for (int i = 0; i < 20; ++i)
    b[i] = a[i] = c[i];
}
