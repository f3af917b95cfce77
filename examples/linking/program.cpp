// A network of two layers in C++, whose matrix products are functions that polydl emitted. In the repository's root:
//
//   polydl optimize examples/matmul.c -D M=32 -D N=128 -D K=64 --name first
//   polydl optimize examples/matmul.c -D M=32 -D N=16 -D K=128 --name second
//
// then with CMake
//
//   cmake -S examples/linking -B build/linking -D KERNELS=$PWD/polydl-out
//   cmake --build build/linking
//   build/linking/program
//
// or with pkg-config
//
//   export PKG_CONFIG_PATH=polydl-out/first:polydl-out/second
//   g++ examples/linking/program.cpp $(pkg-config --cflags --libs first_polydl second_polydl) -o program
//   ./program
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "first_polydl.h"
#include "second_polydl.h"

namespace {

constexpr int rows = 32, inputs = 64, inner = 128, outputs = 16;
alignas(64) float data[rows][inputs], weights1[inputs][inner], hidden[rows][inner];
alignas(64) float weights2[inner][outputs], result[rows][outputs];

// Numbers between -1 and 1, the same at each run.
template <int n, int m> void fill(float (&array)[n][m], int seed) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      array[i][j] = std::sin(static_cast<float>(seed + i * m + j));
}

// The network's result for one row, in double and without a kernel.
double expected(int row, int column) {
  double sum = 0;
  for (int k = 0; k < inner; ++k) {
    double value = 0;
    for (int i = 0; i < inputs; ++i)
      value += static_cast<double>(data[row][i]) * weights1[i][k];
    sum += std::max(value, 0.0) * weights2[k][column];
  }
  return sum;
}

} // namespace

int main() {
  fill(data, 1);
  fill(weights1, 2);
  fill(weights2, 3);
  // The functions add to what is there, which is zero.
  first(hidden, data, weights1);
  for (auto &row : hidden)
    for (float &value : row)
      value = std::max(value, 0.0f);
  second(result, hidden, weights2);
  double most = 0;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < outputs; ++column)
      most = std::max(most, std::abs(result[row][column] - expected(row, column)));
  std::printf("%s\n", most < 1e-3 ? "right" : "wrong");
  first_release();
  second_release();
  return most < 1e-3 ? 0 : 1;
}
