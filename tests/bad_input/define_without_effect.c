#define C 128
void scaled(float x[C])
{
  for (int i = 0; i < C; ++i)
    x[i] *= 2.0f;
}
// expect: OptionError | line 1 | no effect, since C is defined here | C=64
