void spmv(int rows, const int *start, const int *column, const double *value, const double *x, double *y)
{
  for (int i = 0; i < rows; i++) {
    double sum = 0;
    for (int p = start[i]; p < start[i + 1]; p++)
      sum += value[p] * x[column[p]];
    y[i] = sum;
  }
}
