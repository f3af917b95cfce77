void scaled(float x[64])
{
  for (int i = 0; i < 64; ++i)
#ifdef NEVER
    x[i] *= K;
#else
    x[i] *= 2.0f;
#endif
}
// expect: OptionError | line - | -D K=3 has no effect | K=3
