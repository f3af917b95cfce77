/* The counter is 6 and then 9. */
void f(float a[8])
{
  for (int i = 0; i != 8; i += 3)
    a[i % 8] = 0;
}

// expect: UnsupportedConstructError | line 4 | never ends
