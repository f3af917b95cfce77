// Batch normalization and ReLU: polydl's fused code, its code with ReLU or with every operator apart, and oneDNN's primitive
// with ReLU inside and as two primitives, in the fastest of its layouts; inference and training. A loop that only scales the
// tensor shows the bandwidth.
//
// Arguments: images, channels, height, width; then the libraries. For inference: fused, unfused, and the two nests
// apart. For training: fused, unfused, without ReLU, another one without ReLU or "-", and statistics, normalization and ReLU
// apart.
#include "jobs.hpp"

#include <dnnl.hpp>

#include <unordered_map>

using namespace dnnl;

using Inference = void(float *, const float *, const float *, const float *);
using Training = void(float *, const float *, const float *, const float *, float *, float *);
using TrainingPart = void(float *, const float *, const float *, const float *, float *, float *, float *, float *);

int main(int, char **arguments) {
    const long n = std::atol(arguments[1]), c = std::atol(arguments[2]), h = std::atol(arguments[3]), w = std::atol(arguments[4]);
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
    const memory given(tensor, cpu, in), wanted(tensor, cpu, expected);
    auto job = [&](bool training, bool fused, memory::format_tag layout) -> std::function<void()> {
        const memory::desc tensor({n, c, h, w}, memory::data_type::f32, layout);
        const bool blocked = layout == memory::format_tag::nChw16c;
        memory source = blocked ? given : memory(tensor, cpu), target = blocked ? wanted : memory(tensor, cpu);
        if (!blocked) {
            memory from = given;
            reorder(from, source).execute(queue, from, source), queue.wait();
        }
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
    // The fastest of its layouts.
    auto fastest = [&](bool training, bool fused) {
        std::function<void()> best;
        double least = 1e30;
        using tag = memory::format_tag;
        for (tag layout : {tag::nChw16c, tag::nChw8c, tag::nhwc, tag::nchw}) {
            const std::function<void()> one = job(training, fused, layout);
            for (int run = 0; run < 10; ++run) {
                const double start = clock_seconds();
                one();
                const double seconds = clock_seconds() - start;
                if (run && seconds < least) least = seconds, best = one;
            }
        }
        return best;
    };
    char **libraries = arguments + 5;
    auto inference = [&](int place) { return emitted<Inference>(libraries[place], "bnorm_relu"); };
    auto infers = [=](Inference *function) { return [=] { function(out, in, scale, shift); }; };
    auto trains = [=](int place) -> std::function<void()> {
        auto *function = emitted<Training>(libraries[place], "bnorm_train");
        return [=] { function(out, in, both, both + c, own_mean, own_variance); };
    };
    auto *normalize = inference(2), *relu = inference(3);
    auto with_relu = [=](std::function<void()> before) { return [=] { before(), relu(out, in, scale, shift); }; };
    float *own_scale = aligned(c), *own_shift = aligned(c);
    std::vector<TrainingPart *> parts;
    for (int place = 8; place < 11; ++place) parts.push_back(emitted<TrainingPart>(libraries[place], "bnorm_train"));
    std::vector<Job> jobs{
        {"fused_infer", infers(inference(0))},
        {"unfused_infer", infers(inference(1))},
        {"unfused_infer_apart", with_relu(infers(normalize))},
        {"fused_train", trains(4)},
        {"unfused_train", trains(5)},
        {"unfused_train_apart", [&] {
             for (auto *part : parts) part(out, in, both, both + c, own_mean, own_variance, own_scale, own_shift);
         }},
        {"partly_fused_train", with_relu(trains(6))},
    };
    if (std::string(libraries[7]) != "-") jobs.push_back({"partly_fused_train_kept", with_relu(trains(7))});
    const auto blocked = memory::format_tag::nChw16c;
    const std::function<void()> onednn_infer = job(false, true, blocked), onednn_train = job(true, true, blocked);
    std::printf("{\"differences\": {");
    for (size_t i = 0; i < jobs.size(); ++i) {
        if (!i) onednn_infer();
        if (jobs[i].name == "fused_train") onednn_train();
        for (size_t k = 0; k < pixels; ++k) out[k] = -1.0f;
        jobs[i].run();
        std::printf("%s\"%s\": %.3g", i ? ", " : "", jobs[i].name.c_str(), difference(out, expected, pixels));
    }
    std::printf("}, ");
    jobs.push_back({"onednn_infer", fastest(false, true)});
    jobs.push_back({"onednn_train", fastest(true, true)});
    jobs.push_back({"onednn-unfused_infer", fastest(false, false)});
    jobs.push_back({"onednn-unfused_train", fastest(true, false)});
    jobs.push_back({"scaling", [=] {
#pragma omp parallel for simd
                        for (size_t i = 0; i < pixels; ++i) out[i] = 1.5f * in[i];
                    }});
    answer(jobs);
}
