float f(float x)
{
  return 2 * x;
}
// expect: NoScopError | line - | no for loop
