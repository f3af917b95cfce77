// A convolution and what follows it element by element: polydl's fused code, its code with every operator apart, its
// convolution alone, and oneDNN's convolution with post-operations, in the fastest of every algorithm and layout that it
// has, and in the fastest direct one.
//
// Arguments: relu6 or bias_relu; images, channels, filters, height, width, filter size, padding, stride; the blocks of
// input and output channels; the name of the function; then the libraries: fused, unfused, of the convolution, of
// all that follows in one, fused and computing every product, and of each operator that follows.
#include "jobs.hpp"

#include <dnnl.hpp>

#include <unordered_map>

using namespace dnnl;

using Convolution = void(float *, const float *, const float *);
using WithBias = void(float *, const float *, const float *, const float *);
using Operator = void(float *);
using BiasOperator = void(float *, const float *);

int main(int, char **arguments) {
    const bool with_bias = !std::strcmp(arguments[1], "bias_relu");
    long s[10];
    for (int i = 0; i < 10; ++i) s[i] = std::atol(arguments[2 + i]);
    const long n = s[0], c = s[1], k = s[2], h = s[3], w = s[4], f = s[5], pad = s[6], stride = s[7], bc = s[8], bk = s[9];
    const long ph = h + 2 * pad, pw = w + 2 * pad, oh = (ph - f) / stride + 1, ow = (pw - f) / stride + 1;
    float *source = aligned(n * c * h * w), *weights = aligned(k * c * f * f), *bias = aligned(k);
    float *input = aligned(n * c * ph * pw), *filter = aligned(k * c * f * f), *plain = aligned(n * k * oh * ow);
    float *output = aligned(n * k * oh * ow), *separate = aligned(n * k * oh * ow), *apart = aligned(n * k * oh * ow);
    float *partly = aligned(n * k * oh * ow), *alone = aligned(n * k * oh * ow), *direct = aligned(n * k * oh * ow);
    std::mt19937 random(7);
    std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
    const float scale = 8.0f / std::sqrt(float(c * f * f));
    for (long i = 0; i < n * c * h * w; ++i) source[i] = uniform(random);
    for (long i = 0; i < k * c * f * f; ++i) weights[i] = uniform(random) * scale;
    for (long i = 0; i < k; ++i) bias[i] = uniform(random);
    std::memset(input, 0, sizeof(float) * n * c * ph * pw);
    for (long i = 0; i < n; ++i)
        for (long x = 0; x < c; ++x)
            for (long y = 0; y < h; ++y)
                for (long z = 0; z < w; ++z)
                    input[(((i * (c / bc) + x / bc) * ph + y + pad) * pw + z + pad) * bc + x % bc] =
                        source[((i * c + x) * h + y) * w + z];
    for (long o = 0; o < k; ++o)
        for (long x = 0; x < c; ++x)
            for (long y = 0; y < f * f; ++y)
                filter[((((o / bk) * (c / bc) + x / bc) * f * f + y) * bc + x % bc) * bk + o % bk] =
                    weights[(o * c + x) * f * f + y];

    engine cpu(engine::kind::cpu, 0);
    stream queue(cpu);
    auto described = [](memory::dims dims, memory::format_tag tag) { return memory::desc(dims, memory::data_type::f32, tag); };
    using tag = memory::format_tag;
    const memory::dims from{n, c, h, w}, by{k, c, f, f}, to{n, k, oh, ow}, steps{stride, stride}, padding{pad, pad};
    post_ops following;
    if (with_bias) following.append_eltwise(1.0f, algorithm::eltwise_relu, 0.0f, 0.0f);
    else following.append_eltwise(1.0f, algorithm::eltwise_clip, 0.0f, 6.0f);
    primitive_attr attributes;
    attributes.set_post_ops(following);
    struct Peer {
        convolution_forward primitive;
        std::unordered_map<int, memory> operands;
        std::string implementation;
        memory result;
        double seconds = 1e30;
    };
    memory source_plain(described(from, tag::nchw), cpu, source), weights_plain(described(by, tag::oihw), cpu, weights);
    memory bias_memory(described({k}, tag::x), cpu, bias);
    std::vector<std::pair<std::string, std::vector<memory::desc>>> known;
    // The fastest of some runs of an algorithm in a layout; 1e30 seconds if there is none, or it was tried already.
    auto tried = [&](algorithm way, const char *name, tag layout) {
        auto images = [&](memory::dims dims) { return described(dims, layout); };
        const auto filters = described(by, tag::any);
        const auto wanted =
            with_bias ? convolution_forward::desc(prop_kind::forward_inference, way, images(from), filters,
                                                  described({k}, tag::x), images(to), steps, padding, padding)
                      : convolution_forward::desc(prop_kind::forward_inference, way, images(from), filters, images(to), steps,
                                                  padding, padding);
        convolution_forward::primitive_desc found(wanted, attributes, cpu);
        const std::pair<std::string, std::vector<memory::desc>> identity{
            found.impl_info_str(), {found.src_desc(), found.weights_desc(), found.dst_desc()}};
        if (std::find(known.begin(), known.end(), identity) != known.end()) return Peer{};
        known.push_back(identity);
        memory x(found.src_desc(), cpu), y(found.weights_desc(), cpu), z(found.dst_desc(), cpu);
        reorder(source_plain, x).execute(queue, source_plain, x);
        reorder(weights_plain, y).execute(queue, weights_plain, y);
        queue.wait();
        std::unordered_map<int, memory> operands{{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, y}, {DNNL_ARG_DST, z}};
        if (with_bias) operands.insert({DNNL_ARG_BIAS, bias_memory});
        Peer peer{convolution_forward(found), operands, std::string(name) + " " + found.impl_info_str(), z};
        for (int run = 0; run < 10; ++run) {
            const double start = clock_seconds();
            peer.primitive.execute(queue, operands), queue.wait();
            if (run) peer.seconds = std::min(peer.seconds, clock_seconds() - start);
        }
        return peer;
    };
    const std::pair<algorithm, const char *> algorithms[] = {{algorithm::convolution_direct, "direct"},
                                                            {algorithm::convolution_winograd, "Winograd"},
                                                            {algorithm::convolution_auto, "automatic"}};
    // The fastest direct one; and the fastest of all, if that is another.
    std::vector<Peer> peers(1);
    Peer other;
    for (const auto &[way, name] : algorithms)
        for (tag layout : {tag::any, tag::nChw16c, tag::nChw8c, tag::nhwc, tag::nchw})
            try {
                Peer one = tried(way, name, layout);
                Peer &best = way == algorithm::convolution_direct ? peers[0] : other;
                if (one.seconds < best.seconds) best = one;
            } catch (const error &) {
            }
    if (other.seconds < peers[0].seconds) peers.push_back(other);
    char **libraries = arguments + 13;
    using Step = std::function<void(float *)>;
    auto whole = [=](const char *library) -> Step {
        if (with_bias) return [=, run = emitted<WithBias>(library, arguments[12])](float *to) { run(to, filter, input, bias); };
        return [=, run = emitted<Convolution>(library, arguments[12])](float *to) { run(to, filter, input); };
    };
    auto after = [=](const char *library) -> Step {
        if (with_bias) return [=, run = emitted<BiasOperator>(library, "post_operations")](float *to) { run(to, bias); };
        return emitted<Operator>(library, "post_operations");
    };
    auto *convolution = emitted<Convolution>(libraries[2], arguments[12]);
    const Step fused = whole(libraries[0]), unfused = whole(libraries[1]), rest = after(libraries[3]);
    std::vector<Step> operators;
    for (char **library = libraries + 5; *library; ++library) operators.push_back(after(*library));
    std::vector<Job> jobs{
        {"fused", [=] { fused(output); }},
        {"direct_fused", [=, run = whole(libraries[4])] { run(direct); }},
        {"unfused", [=] { unfused(separate); }},
        {"unfused_apart", [=] {
             convolution(apart, filter, input);
             for (const Step &step : operators) step(apart);
         }},
        {"alone", [=] { convolution(alone, filter, input); }},
    };
    if (operators.size() > 1) jobs.push_back({"partly_fused", [=] { convolution(partly, filter, input), rest(partly); }});
    for (size_t p = 0; p < peers.size(); ++p)
        jobs.push_back({p ? "onednn_other" : "onednn_direct", [&, p] { peers[p].primitive.execute(queue, peers[p].operands), queue.wait(); }});
    for (const Job &job : jobs) job.run();
    memory result(described(to, tag::nchw), cpu, plain);
    reorder(peers[0].result, result).execute(queue, peers[0].result, result);
    queue.wait();
    float *blocked = aligned(n * k * oh * ow);
    for (long i = 0; i < n; ++i)
        for (long o = 0; o < k; ++o)
            for (long y = 0; y < oh * ow; ++y)
                blocked[((i * (k / bk) + o / bk) * oh * ow + y) * bk + o % bk] = plain[(i * k + o) * oh * ow + y];
    std::printf("{\"implementations\": [");
    for (const Peer &peer : peers) std::printf("%s\"%s\"", &peer == &peers[0] ? "" : ", ", peer.implementation.c_str());
    std::printf("], \"differences\": [");
    for (const float *found : {output, separate, apart, operators.size() > 1 ? partly : apart, direct})
        std::printf("%s%.3g", found == output ? "" : ", ", difference(found, blocked, n * k * oh * ow));
    std::printf("], ");
    answer(jobs);
}
