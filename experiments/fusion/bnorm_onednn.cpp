// Times fused batch normalization against oneDNN's, interleaved, round after round.
//
// Compiled together with the two emitted C files, with -DnImg=... -DnChannels=... -Dheight=... -Dwidth=...
// Prints one line of JSON: the best seconds of each kind, and the largest difference from oneDNN's result.
#include <dnnl.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

extern "C" void bnorm_relu(float *output, const float *input, const float *scale, const float *shift);
extern "C" void bnorm_train(float *output, const float *input, const float *gamma, const float *beta, float *mean,
                            float *variance);

using Clock = std::chrono::steady_clock;

static float *aligned(size_t count) { return static_cast<float *>(std::aligned_alloc(64, (count * 4 + 63) / 64 * 64)); }

int main(int count, char **arguments) {
    const int rounds = count > 1 ? std::atoi(arguments[1]) : 25;
    const size_t pixels = size_t(TENSOR_N) * TENSOR_C * TENSOR_H * TENSOR_W;
    float *in = aligned(pixels), *out = aligned(pixels), *expected = aligned(pixels);
    float *both = aligned(2 * TENSOR_C), *mean = aligned(TENSOR_C), *variance = aligned(TENSOR_C);
    float *scale = aligned(TENSOR_C), *shift = aligned(TENSOR_C), *ours[2] = {aligned(TENSOR_C), aligned(TENSOR_C)};
    std::mt19937 random(7);
    std::normal_distribution<float> normal(0.3f, 1.0f);
    for (size_t i = 0; i < pixels; ++i) in[i] = normal(random), out[i] = expected[i] = 0.0f;
    for (int c = 0; c < TENSOR_C; ++c) {
        both[c] = 0.5f + std::fabs(normal(random));
        both[TENSOR_C + c] = normal(random);
        mean[c] = normal(random);
        variance[c] = 0.5f + std::fabs(normal(random));
        scale[c] = both[c] / std::sqrt(variance[c] + 1e-5f);
        shift[c] = both[TENSOR_C + c] - mean[c] * scale[c];
    }
    using namespace dnnl;
    engine cpu(engine::kind::cpu, 0);
    stream queue(cpu);
    memory::desc tensor({TENSOR_N, TENSOR_C, TENSOR_H, TENSOR_W}, memory::data_type::f32, memory::format_tag::nChw16c);
    auto make = [&](bool training, bool fused) {
        auto flags = normalization_flags::use_scale_shift;
        if (!training) flags |= normalization_flags::use_global_stats;
        if (fused) flags |= normalization_flags::fuse_norm_relu;
        // With training the fused primitive keeps a mask for the backward pass; inference statistics need none.
        auto kind = prop_kind::forward_inference;
        return batch_normalization_forward::primitive_desc({kind, tensor, 1e-5f, flags}, cpu);
    };
    memory source(tensor, cpu, in), target(tensor, cpu, expected);
    auto job = [&](bool training, bool fused) -> std::function<void()> {
        auto made = make(training, fused);
        auto primitive = batch_normalization_forward(made);
        std::unordered_map<int, memory> operands = {
            {DNNL_ARG_SRC, source}, {DNNL_ARG_DST, target}, {DNNL_ARG_SCALE_SHIFT, memory(made.weights_desc(), cpu, both)}};
        if (!training) {
            operands.insert({DNNL_ARG_MEAN, memory(made.mean_desc(), cpu, mean)});
            operands.insert({DNNL_ARG_VARIANCE, memory(made.variance_desc(), cpu, variance)});
        }
        if (fused) return [=]() mutable { primitive.execute(queue, operands), queue.wait(); };
        auto relu = eltwise_forward(
            {{prop_kind::forward_inference, algorithm::eltwise_relu, tensor, 0.0f, 0.0f}, cpu});
        std::unordered_map<int, memory> again = {{DNNL_ARG_SRC, target}, {DNNL_ARG_DST, target}};
        return [=]() mutable { primitive.execute(queue, operands), relu.execute(queue, again), queue.wait(); };
    };
    std::vector<std::pair<const char *, std::function<void()>>> jobs = {
        {"onednn_infer_unfused", job(false, false)},
        {"onednn_infer", job(false, true)},
        {"polydl_infer", [&] { bnorm_relu(out, in, scale, shift); }},
        {"onednn_train_unfused", job(true, false)},
        {"onednn_train", job(true, true)},
        {"polydl_train", [&] { bnorm_train(out, in, both, both + TENSOR_C, ours[0], ours[1]); }},
    };
    auto difference = [&] {
        double worst = 0;
        for (size_t i = 0; i < pixels; ++i) worst = std::max(worst, double(std::fabs(out[i] - expected[i])));
        return worst;
    };
    jobs[1].second(), jobs[2].second();
    const double infer = difference();
    jobs[4].second(), jobs[5].second();
    const double train = difference();
    std::vector<double> best(jobs.size(), 1e9);
    std::vector<size_t> order(jobs.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    const int repeats = std::max<int>(1, int(4e6 / double(pixels)));
    for (int round = 0; round < rounds; ++round) {
        std::shuffle(order.begin(), order.end(), random);
        for (size_t i : order) {
            jobs[i].second();
            auto start = Clock::now();
            for (int r = 0; r < repeats; ++r) jobs[i].second();
            best[i] = std::min(best[i], std::chrono::duration<double>(Clock::now() - start).count() / repeats);
        }
    }
    std::printf("{\"infer_difference\": %.3g, \"train_difference\": %.3g", infer, train);
    for (size_t i = 0; i < jobs.size(); ++i) std::printf(", \"%s\": %.6g", jobs[i].first, best[i]);
    std::printf("}\n");
}
