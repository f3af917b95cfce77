// A buffer of NN numbers, as "NN" says.
const char *said = "NN";
void scaled(float x[64])
{
  for (int i = 0; i < 64; ++i)
    x[i] *= 2.0f;
}
// expect: OptionError | line - | -D NN=5 has no effect | NN=5
