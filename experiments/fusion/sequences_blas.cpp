// A sequence of BLAS calls, and the nest that polydl made of it. The BLAS is loaded: OpenBLAS, MKL or any other with the C
// interface; all of them with one thread.
//
// Arguments: name of the sequence, N, polydl's fused library, its unfused one or "-", then name=library for
// each BLAS.
#include "jobs.hpp"

#include <type_traits>


namespace {

enum { rows = 101, plain = 111, transposed = 112 };

struct Blas {
    void (*saxpy)(int, float, const float *, int, float *, int);
    void (*scopy)(int, const float *, int, float *, int);
    float (*sdot)(int, const float *, int, const float *, int);
    void (*sscal)(int, float, float *, int);
    void (*sgemv)(int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
    void (*sger)(int, int, int, float, const float *, int, const float *, int, float *, int);

    explicit Blas(const char *library)
        : saxpy(emitted<std::remove_pointer_t<decltype(saxpy)>>(library, "cblas_saxpy")),
          scopy(emitted<std::remove_pointer_t<decltype(scopy)>>(library, "cblas_scopy")),
          sdot(emitted<std::remove_pointer_t<decltype(sdot)>>(library, "cblas_sdot")),
          sscal(emitted<std::remove_pointer_t<decltype(sscal)>>(library, "cblas_sscal")),
          sgemv(emitted<std::remove_pointer_t<decltype(sgemv)>>(library, "cblas_sgemv")),
          sger(emitted<std::remove_pointer_t<decltype(sger)>>(library, "cblas_sger")) {}
};

constexpr float alpha = 0.75f, beta = 0.5f;
int n;

std::mt19937 engine_of_values(7);

// Small values in matrices, so that sums over their rows stay near 1.
float *values(size_t count, float largest) {
    std::uniform_real_distribution<float> uniform(-largest, largest);
    float *made = aligned(count);
    for (size_t i = 0; i < count; ++i) made[i] = uniform(engine_of_values);
    return made;
}
float *vector_() { return values(n, 1.0f); }
float *matrix() { return values(size_t(n) * n, 2.0f / std::sqrt(float(n))); }

struct Sequence {
    std::vector<float *> results;
    std::vector<size_t> counts;
    std::function<void(const Blas &)> calls;
    std::function<void(void *)> nest;
};


Sequence made(const std::string &name) {
    const size_t square = size_t(n) * n;
    const auto multiply = [](const Blas &b, int way, float a, const float *m, const float *x, float c, float *y) {
        b.sgemv(rows, way, n, n, a, m, n, x, 1, c, y, 1);
    };
    using F = float *;
    using C = const float *;
    if (name == "axpydot") {
        F w = vector_(), v = vector_(), u = vector_(), z = vector_(), r = aligned(1);
        return {{z, r}, {size_t(n), 1},
                [=](const Blas &b) { b.scopy(n, w, 1, z, 1), b.saxpy(n, -alpha, v, 1, z, 1), *r = b.sdot(n, z, 1, u, 1); },
                [=](void *f) { ((void (*)(float, C, C, C, F, F))f)(alpha, w, v, u, z, r); }};
    }
    if (name == "atax") {
        F a = matrix(), x = vector_(), t = vector_(), y = vector_();
        return {{t, y}, {size_t(n), size_t(n)},
                [=](const Blas &b) { multiply(b, plain, 1, a, x, 0, t), multiply(b, transposed, 1, a, t, 0, y); },
                [=](void *f) { ((void (*)(C, C, F, F))f)(a, x, t, y); }};
    }
    if (name == "bicgk") {
        F a = matrix(), p = vector_(), r = vector_(), q = vector_(), s = vector_();
        return {{q, s}, {size_t(n), size_t(n)},
                [=](const Blas &b) { multiply(b, plain, 1, a, p, 0, q), multiply(b, transposed, 1, a, r, 0, s); },
                [=](void *f) { ((void (*)(C, C, C, F, F))f)(a, p, r, q, s); }};
    }
    if (name == "sgemv") {
        F a = matrix(), x = vector_(), y = vector_(), z = vector_();
        return {{z}, {size_t(n)},
                [=](const Blas &b) { b.scopy(n, y, 1, z, 1), multiply(b, plain, alpha, a, x, beta, z); },
                [=](void *f) { ((void (*)(float, float, C, C, C, F))f)(alpha, beta, a, x, y, z); }};
    }
    if (name == "sgemvt") {
        F a = matrix(), y = vector_(), z = vector_(), x = vector_(), w = vector_();
        return {{x, w}, {size_t(n), size_t(n)},
                [=](const Blas &b) {
                    b.scopy(n, z, 1, x, 1), multiply(b, transposed, beta, a, y, 1, x), multiply(b, plain, alpha, a, x, 0, w);
                },
                [=](void *f) { ((void (*)(float, float, C, C, C, F, F))f)(alpha, beta, a, y, z, x, w); }};
    }
    if (name == "sscal") {
        F x = vector_();
        // By -1, since the vector is scaled again and again.
        return {{x}, {size_t(n)}, [=](const Blas &b) { b.sscal(n, -1.0f, x, 1); },
                [=](void *f) { ((void (*)(float, F))f)(-1.0f, x); }};
    }
    if (name == "gemver") {
        F a = matrix(), u1 = vector_(), v1 = vector_(), u2 = vector_(), v2 = vector_(), y = vector_(), z = vector_();
        F b2 = matrix(), x = vector_(), w = vector_();
        return {{b2, x, w}, {square, size_t(n), size_t(n)},
                [=](const Blas &b) {
                    b.scopy(n * n, a, 1, b2, 1), b.sger(rows, n, n, 1, u1, 1, v1, 1, b2, n), b.sger(rows, n, n, 1, u2, 1, v2, 1, b2, n);
                    b.scopy(n, z, 1, x, 1), multiply(b, transposed, beta, b2, y, 1, x), multiply(b, plain, alpha, b2, x, 0, w);
                },
                [=](void *f) {
                    ((void (*)(float, float, C, C, C, C, C, C, C, F, F, F))f)(alpha, beta, a, u1, v1, u2, v2, y, z, b2, x, w);
                }};
    }
    if (name == "gesummv") {
        F a = matrix(), b2 = matrix(), x = vector_(), y = vector_();
        return {{y}, {size_t(n)},
                [=](const Blas &b) { multiply(b, plain, alpha, a, x, 0, y), multiply(b, plain, beta, b2, x, 1, y); },
                [=](void *f) { ((void (*)(float, float, C, C, C, F))f)(alpha, beta, a, b2, x, y); }};
    }
    if (name == "madd") {
        F a = matrix(), b2 = matrix(), c = matrix();
        return {{c}, {square}, [=](const Blas &b) { b.scopy(n * n, a, 1, c, 1), b.saxpy(n * n, 1, b2, 1, c, 1); },
                [=](void *f) { ((void (*)(C, C, F))f)(a, b2, c); }};
    }
    if (name == "vadd") {
        F w = vector_(), y = vector_(), z = vector_(), x = vector_();
        return {{x}, {size_t(n)},
                [=](const Blas &b) { b.scopy(n, w, 1, x, 1), b.saxpy(n, 1, y, 1, x, 1), b.saxpy(n, 1, z, 1, x, 1); },
                [=](void *f) { ((void (*)(C, C, C, F))f)(w, y, z, x); }};
    }
    F x = vector_(), y = vector_(), w = vector_();
    return {{w}, {size_t(n)},
            [=](const Blas &b) { b.scopy(n, y, 1, w, 1), b.sscal(n, beta, w, 1), b.saxpy(n, alpha, x, 1, w, 1); },
            [=](void *f) { ((void (*)(float, float, C, C, F))f)(alpha, beta, x, y, w); }};
}

} // namespace

int main(int count, char **arguments) {
    const std::string name = arguments[1];
    n = std::atoi(arguments[2]);
    const Sequence sequence = made(name);
    std::vector<Job> jobs;
    const char *own[] = {"fused", "unfused"};
    for (int i = 0; i < 2; ++i)
        if (std::strcmp(arguments[3 + i], "-")) {
            void *function = reinterpret_cast<void *>(emitted<void()>(arguments[3 + i], name.c_str()));
            jobs.push_back({own[i], [=] { sequence.nest(function); }});
        }
    for (int i = 5; i < count; ++i) {
        const std::string word = arguments[i];
        const size_t split = word.find('=');
        const Blas blas(word.substr(split + 1).c_str());
        jobs.push_back({word.substr(0, split), [=] { sequence.calls(blas); }});
    }
    // What each of them computes, against the first.
    std::vector<std::vector<float>> expected;
    std::printf("{\"differences\": {");
    for (size_t j = 0; j < jobs.size(); ++j) {
        if (name == "sscal") break;
        jobs[j].run();
        double worst = 0;
        for (size_t r = 0; r < sequence.results.size(); ++r) {
            const float *found = sequence.results[r];
            if (j == 0) expected.emplace_back(found, found + sequence.counts[r]);
            else worst = std::max(worst, difference(found, expected[r].data(), sequence.counts[r]));
        }
        if (j) std::printf("%s\"%s\": %.3g", j > 1 ? ", " : "", jobs[j].name.c_str(), worst);
    }
    std::printf("}, ");
    answer(jobs);
}
