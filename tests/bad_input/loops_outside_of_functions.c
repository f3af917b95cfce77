float a[64];
for (i = 1; i < 64; i++)
  a[i] = a[i - 1];
// expect: SourceError | line 2 | put the loops into a function | i=5
