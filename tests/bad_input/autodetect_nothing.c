void f(float a[16])
{
  for (int i = 0; i < 16; ++i) {
    if (a[i] > 0) goto out;
    a[i] = 0;
  }
out:;
}
// expect: UnsupportedConstructError | line 4 | goto
