// Batch normalization and ReLU: polydl's fused code, its own normalization and then ReLU, and oneDNN's primitive with ReLU
// inside and as two primitives; inference and training. A loop that only scales the tensor shows the bandwidth.
//
// Arguments: images, channels, height, width; seconds; then seven libraries: for inference and for training, fused, without
// ReLU, and another one without ReLU or "-"; and ReLU.
#include "interleaved.hpp"

#include <dnnl.hpp>

#include <unordered_map>

using namespace dnnl;

using Inference = void(float *, const float *, const float *, const float *);
using Training = void(float *, const float *, const float *, const float *, float *, float *);
using Relu = void(float *);

int main(int, char **arguments) {
    const long n = std::atol(arguments[1]), c = std::atol(arguments[2]), h = std::atol(arguments[3]), w = std::atol(arguments[4]);
    const double budget = std::atof(arguments[5]);
    const size_t pixels = size_t(n) * c * h * w;
    float *in = aligned(pixels), *out = aligned(pixels), *expected = aligned(pixels);
    float *both = aligned(2 * c), *mean = aligned(c), *variance = aligned(c), *scale = aligned(c), *shift = aligned(c);
    float *own_mean = aligned(c), *own_variance = aligned(c);
    std::mt19937 random(7);
    std::normal_distribution<float> normal(0.3f, 1.0f);
    for (size_t i = 0; i < pixels; ++i) in[i] = normal(random), out[i] = expected[i] = 0.0f;
    for (long i = 0; i < c; ++i) {
        both[i] = 0.5f + std::fabs(normal(random));
        both[c + i] = normal(random);
        mean[i] = normal(random);
        variance[i] = 0.5f + std::fabs(normal(random));
        scale[i] = both[i] / std::sqrt(variance[i] + 1e-5f);
        shift[i] = both[c + i] - mean[i] * scale[i];
    }
    engine cpu(engine::kind::cpu, 0);
    stream queue(cpu);
    memory::desc tensor({n, c, h, w}, memory::data_type::f32, memory::format_tag::nChw16c);
    memory source(tensor, cpu, in), target(tensor, cpu, expected);
    auto job = [&](bool training, bool fused) -> std::function<void()> {
        auto flags = normalization_flags::use_scale_shift;
        if (!training) flags |= normalization_flags::use_global_stats;
        if (fused) flags |= normalization_flags::fuse_norm_relu;
        // Statistics are computed in either kind; forward_training would keep a mask for the backward pass besides.
        batch_normalization_forward::primitive_desc made({prop_kind::forward_inference, tensor, 1e-5f, flags}, cpu);
        batch_normalization_forward primitive(made);
        std::unordered_map<int, memory> operands{
            {DNNL_ARG_SRC, source}, {DNNL_ARG_DST, target}, {DNNL_ARG_SCALE_SHIFT, memory(made.weights_desc(), cpu, both)}};
        if (!training) {
            operands.insert({DNNL_ARG_MEAN, memory(made.mean_desc(), cpu, mean)});
            operands.insert({DNNL_ARG_VARIANCE, memory(made.variance_desc(), cpu, variance)});
        }
        if (fused) return [=]() mutable { primitive.execute(queue, operands), queue.wait(); };
        eltwise_forward relu({{prop_kind::forward_inference, algorithm::eltwise_relu, tensor, 0.0f, 0.0f}, cpu});
        std::unordered_map<int, memory> again{{DNNL_ARG_SRC, target}, {DNNL_ARG_DST, target}};
        return [=]() mutable { primitive.execute(queue, operands), relu.execute(queue, again), queue.wait(); };
    };
    auto *infer = emitted<Inference>(arguments[6], "bnorm_relu"), *infer_only = emitted<Inference>(arguments[7], "bnorm_relu");
    auto *train = emitted<Training>(arguments[9], "bnorm_train"), *train_only = emitted<Training>(arguments[10], "bnorm_train");
    auto *relu = emitted<Relu>(arguments[12], "relu");
    std::vector<Job> jobs{
        {"onednn_infer", job(false, true)},
        {"fused_infer", [=] { infer(out, in, scale, shift); }},
        {"onednn_train", job(true, true)},
        {"fused_train", [=] { train(out, in, both, both + c, own_mean, own_variance); }},
        {"unfused_infer", [=] { infer_only(out, in, scale, shift), relu(out); }},
        {"unfused_train", [=] { train_only(out, in, both, both + c, own_mean, own_variance), relu(out); }},
        {"onednn-unfused_infer", job(false, false)},
        {"onednn-unfused_train", job(true, false)},
        {"scaling", [=] {
#pragma omp parallel for simd
             for (size_t i = 0; i < pixels; ++i) out[i] = 1.5f * in[i];
         }},
    };
    if (std::string(arguments[8]) != "-") {
        auto *kept = emitted<Inference>(arguments[8], "bnorm_relu");
        jobs.push_back({"unfused_infer_kept", [=] { kept(out, in, scale, shift), relu(out); }});
    }
    if (std::string(arguments[11]) != "-") {
        auto *kept = emitted<Training>(arguments[11], "bnorm_train");
        jobs.push_back({"unfused_train_kept", [=] { kept(out, in, both, both + c, own_mean, own_variance), relu(out); }});
    }
    jobs[0].run(), jobs[1].run();
    const double infer_difference = difference(out, expected, pixels);
    jobs[2].run(), jobs[3].run();
    const double train_difference = difference(out, expected, pixels);
    std::printf("{\"differences\": [%.3g, %.3g], ", infer_difference, train_difference);
    interleave(jobs, budget);
    std::printf("}\n");
}
