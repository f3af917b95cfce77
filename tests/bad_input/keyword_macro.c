#define if(condition) while (condition)
void f(float a[16])
{
  for (int i = 0; i < 16; i++)
    a[i] += 1;
}
// expect: SourceError | line 1 | the name if belongs to C
