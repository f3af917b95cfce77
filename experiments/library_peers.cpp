// A library of products of any size beside OpenBLAS and oneDNN, in one process, in turns. Shapes are read from standard input, a
// line each: M N K. For each one a line of JSON with the seconds of a call, sample by sample, or with "wrong", which names all that
// computed something else than OpenBLAS, the reference. C += A * B, all matrices by rows without gaps. In each round all take a
// sample in a new random order. Descriptors of memory are made once for a shape, also where a primitive is made in each call.
#include "memory.h"

#include <cblas.h>
#include <dnnl.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

extern "C" void gemm(int M, int N, int K, float *C, const float *A, const float *B);

using namespace dnnl;
using tag = memory::format_tag;

namespace {

constexpr int rounds = 9;
constexpr double sample_seconds = 0.004;
constexpr long most_repeats = 1 << 16;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct free_array {
  void operator()(float *array) const { free(array); }
};
using matrix = std::unique_ptr<float, free_array>;

matrix random_matrix(long elements, unsigned seed) {
  matrix made(make_array(elements * sizeof(float)));
  if (!made)
    std::exit(3);
  for (long i = 0; i < elements; ++i) {
    seed = seed * 1664525u + 1013904223u;
    made.get()[i] = (float)(seed >> 8) / (1 << 23) - 1.0f;
  }
  return made;
}

double timed(const std::function<void()> &call, long repeats) {
  const double start = now();
  for (long i = 0; i < repeats; ++i)
    call();
  return (now() - start) / (double)repeats;
}

long repeats_of(const std::function<void()> &call) {
  long repeats = 1;
  for (;;) {
    const double seconds = timed(call, repeats) * (double)repeats;
    if (seconds >= sample_seconds / 2 || repeats >= most_repeats)
      return std::max(1L, std::min(most_repeats, (long)(sample_seconds / (seconds / (double)repeats))));
    repeats *= 4;
  }
}

} // namespace

int main() {
  engine cpu(engine::kind::cpu, 0);
  stream queue(cpu);
  // A primitive that is asked for anew is made anew.
  set_primitive_cache_capacity(0);
  std::mt19937 generator(1);
  long m, n, k;
  while (std::scanf("%ld %ld %ld", &m, &n, &k) == 3) {
    matrix a = random_matrix(m * k, 1), b = random_matrix(k * n, 2);
    matrix right(make_array(m * n * sizeof(float))), c(make_array(m * n * sizeof(float)));
    const memory::desc rows_a({m, k}, memory::data_type::f32, tag::ab), rows_b({k, n}, memory::data_type::f32, tag::ab),
        rows_c({m, n}, memory::data_type::f32, tag::ab);
    post_ops sum;
    sum.append_sum(1.0f);
    primitive_attr adding;
    adding.set_post_ops(sum);
    const auto made = [&] {
      return matmul(matmul::primitive_desc(matmul::desc(rows_a, rows_b, rows_c), adding, cpu));
    };
    std::unordered_map<int, memory> arguments = {{DNNL_ARG_SRC, memory(rows_a, cpu, a.get())},
                                                 {DNNL_ARG_WEIGHTS, memory(rows_b, cpu, b.get())},
                                                 {DNNL_ARG_DST, memory(rows_c, cpu, c.get())}};
    const matmul known = made();
    const std::vector<std::pair<std::string, std::function<void()>>> ways = {
        {"polydl", [&] { gemm((int)m, (int)n, (int)k, c.get(), a.get(), b.get()); }},
        {"OpenBLAS",
         [&] {
           cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)n, (int)k, 1.0f, a.get(), (int)k, b.get(),
                       (int)n, 1.0f, c.get(), (int)n);
         }},
        {"oneDNN, primitive known",
         [&] {
           known.execute(queue, arguments);
           queue.wait();
         }},
        {"oneDNN, primitive made",
         [&] {
           made().execute(queue, arguments);
           queue.wait();
         }},
        {"oneDNN, sgemm",
         [&] { dnnl_sgemm('N', 'N', m, n, k, 1.0f, a.get(), k, b.get(), n, 1.0f, c.get(), n); }},
    };
    // C begins with ones, so that a product that is not added is seen.
    std::fill(c.get(), c.get() + m * n, 1.0f);
    ways[1].second();
    std::swap(right, c);
    arguments.at(DNNL_ARG_DST).set_data_handle(c.get());
    std::string wrong;
    for (const auto &[name, call] : ways) {
      std::fill(c.get(), c.get() + m * n, 1.0f);
      call();
      // The sum of k products of numbers up to 1, in two orders.
      const double tolerance = 4e-6 * std::sqrt((double)k) * 4 + 1e-6;
      if (!std::equal(c.get(), c.get() + m * n, right.get(),
                      [&](float one, float other) { return std::fabs(one - other) <= tolerance; }))
        wrong += (wrong.empty() ? "" : "; ") + name;
    }
    std::printf("{\"sizes\": [%ld, %ld, %ld], ", m, n, k);
    if (!wrong.empty()) {
      std::printf("\"wrong\": \"%s\"}\n", wrong.c_str());
    } else {
      std::vector<long> repeats;
      for (const auto &way : ways)
        repeats.push_back(repeats_of(way.second));
      std::vector<std::vector<double>> samples(ways.size());
      std::vector<std::size_t> order(ways.size());
      std::iota(order.begin(), order.end(), 0);
      for (int round = 0; round < rounds; ++round) {
        std::shuffle(order.begin(), order.end(), generator);
        for (const std::size_t turn : order)
          samples[turn].push_back(timed(ways[turn].second, repeats[turn]));
      }
      std::printf("\"seconds\": {");
      for (std::size_t way = 0; way < ways.size(); ++way) {
        std::printf("%s\"%s\": [", way ? ", " : "", ways[way].first.c_str());
        for (int round = 0; round < rounds; ++round)
          std::printf("%s%.4g", round ? ", " : "", samples[way][(std::size_t)round]);
        std::printf("]");
      }
      std::printf("}}\n");
    }
    std::fflush(stdout);
  }
  return 0;
}
