void sgemm(int m, int n, int k, float alpha, const float *a, int lda, const float *b, int ldb, float beta, float *c,
           int ldc)
{
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      float sum = 0.0f;
      for (int p = 0; p < k; p++)
        sum += a[i * lda + p] * b[p * ldb + j];
      c[i * ldc + j] = alpha * sum + beta * c[i * ldc + j];
    }
}
