void first(float a[16])
{
  for (int i = 0; i < 16; ++i)
    a[i] = 0;
}
void second(float a[16])
{
  for (int i = 0; i < 16; ++i)
    a[i] = 1;
}
// expect: OptionError | line 6 | first (line 1), second (line 6)
