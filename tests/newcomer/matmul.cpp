#include <vector>
template <typename T>
void matmul(const std::vector<T> &a, const std::vector<T> &b, std::vector<T> &c, int n)
{
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k)
        c[i * n + j] += a[i * n + k] * b[k * n + j];
}
