// oneDNN at its best. Where the layouts are its own choice, reorders are outside of the timing, and so are transforms of
// filters; where they are given, each computation starts and ends with them. peer.h has two more ways to treat weights.
// Every algorithm is asked for in every layout, each way that there is is tried, and the fastest stays.
#include "memory.h"
#include "peer.h"

#include <dnnl.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

using namespace dnnl;
using tag = memory::format_tag;
using arguments = std::unordered_map<int, memory>;

namespace {

constexpr int trials = 9;
// Methods that were up to so many times as slow as the fastest at first are timed again in turns: so many rounds of samples
// of so many seconds, or as many rounds as fit into some seconds.
constexpr double close = 1.6;
constexpr int rounds = 15;
constexpr double sample_seconds = 0.003, final_seconds = 2.0;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct free_array {
  void operator()(float *array) const { free(array); }
};
using array = std::unique_ptr<float, free_array>;

array made(size_t bytes) {
  array memory(make_array(bytes));
  if (!memory)
    throw std::bad_alloc();
  return memory;
}

engine cpu(engine::kind::cpu, 0);
stream queue(cpu);

using step = std::function<void()>;

struct method {
  std::string name;
  std::vector<step> steps;
  memory result;
  std::vector<array> arrays;
  std::vector<size_t> bytes;

  void compute() const {
    for (const step &each : steps)
      each();
    queue.wait();
  }
};

// An operand as it is filled or read (plain), and as every computation finds it (given).
struct operand {
  memory::desc plain, given;
  array values;

  memory in_memory() const { return memory(given, cpu, values.get()); }
};

operand source, weights, result;
array result_values;
std::vector<std::function<std::unique_ptr<method>()>> methods;
std::unique_ptr<method> chosen;
std::string note, problem;

memory::desc described(memory::dims dims, tag layout) { return memory::desc(dims, memory::data_type::f32, layout); }

step reordering(memory from, memory to) {
  reorder primitive(from, to);
  return [=]() mutable { primitive.execute(queue, from, to); };
}

void reorder_now(const memory &from, const memory &to) {
  reordering(from, to)();
  queue.wait();
}

memory own_memory(const memory::desc &wanted, method &owner) {
  owner.arrays.push_back(made(wanted.get_size()));
  owner.bytes.push_back(wanted.get_size());
  return memory(wanted, cpu, owner.arrays.back().get());
}

// The operand in the layout that a primitive wants: reordered now, or in each computation.
memory input(const operand &from, const memory::desc &wanted, bool each_time, method &owner) {
  if (wanted == from.given)
    return from.in_memory();
  memory target = own_memory(wanted, owner);
  if (each_time)
    owner.steps.push_back(reordering(from.in_memory(), target));
  else
    reorder_now(from.in_memory(), target);
  return target;
}

const std::pair<tag, const char *> named[] = {{tag::nChw16c, "nChw16c"}, {tag::nChw8c, "nChw8c"},
                                              {tag::nhwc, "nhwc"},       {tag::nchw, "nchw"},
                                              {tag::ab, "by rows"},      {tag::ba, "by columns"}};

std::string layout_name(const memory::desc &layout) {
  const memory::dims dims = layout.dims();
  for (const auto &[plain, name] : named)
    if (dims.size() == (plain == tag::ab || plain == tag::ba ? 2 : 4) && layout == described(dims, plain))
      return name;
  return "another layout";
}

// Whether a primitive's weights are made in each computation.
bool prepared_each_time(const memory::desc &wanted, bool each_time, int when) {
  if (when == PEER_WEIGHTS_PREPARED)
    return false;
  // What is no arrangement of the weights is their transform.
  return each_time || (when == PEER_WEIGHTS_EACH_TIME && wanted.data.format_kind != dnnl_blocked);
}

bool is_reference(const method &found) { return found.name.find(" ref:") != std::string::npos; }

// What was tried already: the same implementation with the same layouts.
std::vector<std::pair<std::string, std::vector<memory::desc>>> known;

// A way to compute; nothing if it was tried already.
template <typename Primitive, typename Description>
std::unique_ptr<method> method_of(const Description &description, const std::string &name, bool each_time, int when) {
  const std::pair<std::string, std::vector<memory::desc>> way{
      description.impl_info_str(), {description.src_desc(), description.weights_desc(), description.dst_desc()}};
  if (std::find(known.begin(), known.end(), way) != known.end())
    return nullptr;
  known.push_back(way);
  auto one = std::make_unique<method>();
  method &found = *one;
  found.name = name + " " + way.first + ", " + layout_name(description.src_desc());
  memory from = input(source, description.src_desc(), each_time, found);
  const memory::desc &wanted = description.weights_desc();
  memory by = input(weights, wanted, prepared_each_time(wanted, each_time, when), found);
  memory to = own_memory(description.dst_desc(), found);
  Primitive primitive(description);
  arguments all = {{DNNL_ARG_SRC, from}, {DNNL_ARG_WEIGHTS, by}, {DNNL_ARG_DST, to}};
  found.steps.push_back([=] { primitive.execute(queue, all); });
  found.result = to;
  if (each_time && description.dst_desc() != result.given) {
    found.result = own_memory(result.given, found);
    found.steps.push_back(reordering(to, found.result));
  }
  if (found.steps.size() > 1)
    found.name += " with reorders";
  return one;
}

std::unique_ptr<method> product_by_sgemm(long m, long n, long k, float beta) {
  auto one = std::make_unique<method>();
  method &found = *one;
  found.name = "sgemm";
  found.result = own_memory(result.given, found);
  float *to = found.arrays.back().get();
  found.steps.push_back([=] {
    if (dnnl_sgemm('N', 'N', m, n, k, 1.0f, source.values.get(), k, weights.values.get(), n, beta, to, n) !=
        dnnl_success)
      throw error(dnnl_runtime_error, "sgemm failed");
  });
  return one;
}

const char *guarded(const std::function<void()> &step) {
  try {
    step();
    return nullptr;
  } catch (const std::exception &failure) {
    problem = failure.what();
    return problem.c_str();
  }
}

void allocate_inputs(float **source_values, float **weights_values) {
  source.values = made(source.plain.get_size());
  weights.values = made(weights.plain.get_size());
  *source_values = source.values.get();
  *weights_values = weights.values.get();
}

void arrange(operand &filled) {
  if (filled.plain == filled.given)
    return;
  array arranged = made(filled.given.get_size());
  reorder_now(memory(filled.plain, cpu, filled.values.get()), memory(filled.given, cpu, arranged.get()));
  filled.values = std::move(arranged);
}

void flush_arrays(const method &computing, peer_flush *flush) {
  flush(source.values.get(), source.given.get_size());
  flush(weights.values.get(), weights.given.get_size());
  for (size_t i = 0; i < computing.arrays.size(); ++i)
    flush(computing.arrays[i].get(), computing.bytes[i]);
}

struct contender {
  std::unique_ptr<method> way;
  double best;
  std::vector<double> samples;
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

// The least of a few calls is often not what is fastest call by call: medians of samples in turns decide.
std::unique_ptr<method> fastest_in_turns(std::vector<contender> &contenders, peer_flush *flush) {
  const double begin = seconds();
  for (int round = 0; contenders.size() > 1 && round < rounds && (round == 0 || seconds() - begin < final_seconds); ++round)
    for (contender &each : contenders) {
      const int calls = flush ? 1 : std::max(1, (int)std::min(1e6, sample_seconds / each.best));
      if (flush)
        flush_arrays(*each.way, flush);
      else
        each.way->compute();
      const double start = seconds();
      for (int call = 0; call < calls; ++call)
        each.way->compute();
      each.samples.push_back((seconds() - start) / calls);
    }
  const auto faster = [](const contender &one, const contender &other) {
    return median(one.samples) < median(other.samples);
  };
  return std::move(std::min_element(contenders.begin(), contenders.end(), faster)->way);
}

} // namespace

const char *peer_convolution(const long *s, int layout, int when, int direct, float **source_values,
                             float **weights_values) {
  return guarded([&] {
    const memory::dim groups = s[10], dilation = s[11];
    const memory::dim height = (s[3] + 2 * s[7] - (s[5] - 1) * dilation - 1) / s[9] + 1;
    const memory::dim width = (s[4] + 2 * s[8] - (s[6] - 1) * dilation - 1) / s[9] + 1;
    const memory::dims from{s[0], s[1], s[3], s[4]}, to{s[0], s[2], height, width};
    const memory::dims by = groups > 1 ? memory::dims{groups, s[2] / groups, s[1] / groups, s[5], s[6]}
                                       : memory::dims{s[2], s[1], s[5], s[6]};
    const memory::dims strides{s[9], s[9]}, dilates{dilation - 1, dilation - 1}, padding{s[7], s[8]};
    const tag images = layout == PEER_NHWC ? tag::nhwc : tag::nchw;
    source.plain = described(from, tag::nchw), source.given = described(from, images);
    const tag filters = groups > 1 ? tag::goihw : tag::oihw;
    weights.plain = described(by, filters);
    weights.given = described(by, layout != PEER_NHWC ? filters : groups > 1 ? tag::hwigo : tag::hwio);
    result.plain = described(to, tag::nchw), result.given = described(to, images);
    allocate_inputs(source_values, weights_values);
    const bool own = layout == PEER_OWN;
    const std::pair<algorithm, const char *> algorithms[] = {{algorithm::convolution_direct, "direct"},
                                                            {algorithm::convolution_winograd, "Winograd"},
                                                            {algorithm::convolution_auto, "automatic"}};
    for (const auto &[way, name] : algorithms)
      for (tag activations : {tag::any, tag::nChw16c, tag::nChw8c, tag::nhwc, tag::nchw})
        if (!direct || way == algorithm::convolution_direct)
          methods.push_back([=, way = way, name = name] {
            convolution_forward::desc wanted(prop_kind::forward_inference, way, described(from, activations),
                                             described(by, tag::any), described(to, activations), strides, dilates,
                                             padding, padding);
            return method_of<convolution_forward>(convolution_forward::primitive_desc(wanted, cpu), name, !own, when);
          });
  });
}

const char *peer_product(const long *s, int layout, int when, int accumulate, float **source_values,
                         float **weights_values) {
  return guarded([&] {
    const memory::dims a{s[0], s[2]}, b{s[2], s[1]}, c{s[0], s[1]};
    source.plain = source.given = described(a, tag::ab);
    weights.plain = weights.given = described(b, tag::ab);
    result.plain = result.given = described(c, tag::ab);
    allocate_inputs(source_values, weights_values);
    const bool own = layout == PEER_OWN;
    primitive_attr attributes;
    if (accumulate) {
      post_ops sum;
      sum.append_sum(1.0f);
      attributes.set_post_ops(sum);
    }
    std::vector<std::pair<tag, tag>> layouts = {{tag::any, tag::any}, {tag::ab, tag::ab}};
    if (when == PEER_WEIGHTS_PREPARED)
      layouts.push_back({tag::ab, tag::any});
    for (const auto &[others, weights_layout] : layouts)
      methods.push_back([=, others = others, weights_layout = weights_layout] {
        matmul::desc wanted(described(a, others), described(b, weights_layout), described(c, others));
        return method_of<matmul>(matmul::primitive_desc(wanted, attributes, cpu), "matmul", !own, when);
      });
    if (!own)
      methods.push_back([m = s[0], n = s[1], k = s[2], accumulate] {
        return product_by_sgemm(m, n, k, accumulate ? 1.0f : 0.0f);
      });
  });
}

const char *peer_ready(peer_flush *flush) {
  return guarded([flush] {
    arrange(source);
    arrange(weights);
    double fastest = std::numeric_limits<double>::infinity();
    std::vector<contender> contenders;
    std::string refusal;
    for (const auto &make : methods) {
      std::unique_ptr<method> one;
      try {
        one = make();
      } catch (const error &unavailable) {
        refusal = unavailable.what();
      }
      // A reference implementation takes minutes for a large image where any other one takes milliseconds.
      const bool other = std::any_of(contenders.begin(), contenders.end(),
                                     [](const contender &each) { return !is_reference(*each.way); });
      if (!one || (other && is_reference(*one)))
        continue;
      one->compute();
      double best = std::numeric_limits<double>::infinity();
      for (int i = 0; i < trials && (i == 0 || best < 1.0); ++i) {
        if (flush)
          flush_arrays(*one, flush);
        const double start = seconds();
        one->compute();
        best = std::min(best, seconds() - start);
      }
      fastest = std::min(fastest, best);
      contenders.push_back({std::move(one), best, {best}});
      contenders.erase(std::remove_if(contenders.begin(), contenders.end(),
                                      [=](const contender &each) { return each.best > close * fastest; }),
                       contenders.end());
    }
    if (contenders.empty())
      throw std::runtime_error(refusal);
    chosen = fastest_in_turns(contenders, flush);
    memset(chosen->result.get_data_handle(), 0, chosen->result.get_desc().get_size());
    const dnnl_version_t *version = dnnl_version();
    note = "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch) + ", " + chosen->name;
  });
}

double peer_run(long repeats) {
  const double start = seconds();
  for (long i = 0; i < repeats; ++i)
    chosen->compute();
  return seconds() - start;
}

void peer_flush_arrays(peer_flush *flush) { flush_arrays(*chosen, flush); }

const float *peer_result() {
  result_values = made(result.plain.get_size());
  reorder_now(chosen->result, memory(result.plain, cpu, result_values.get()));
  return result_values.get();
}

const char *peer_note() { return note.c_str(); }
