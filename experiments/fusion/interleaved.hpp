// Jobs timed side by side: in each round every job once, in random order. Prints the seconds of all rounds as JSON.
#ifndef INTERLEAVED_HPP
#define INTERLEAVED_HPP

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

struct Job {
    std::string name;
    std::function<void()> run;
};

inline double clock_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline float *aligned(size_t count) {
    auto *memory = static_cast<float *>(std::aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64));
    if (!memory) std::fprintf(stderr, "not enough memory\n"), std::exit(1);
    return memory;
}

// A function of a library that polydl emitted.
template <typename Function> Function *emitted(const char *library, const char *name) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) std::fprintf(stderr, "%s\n", dlerror()), std::exit(1);
    void *found = dlsym(handle, name);
    if (!found) std::fprintf(stderr, "%s\n", dlerror()), std::exit(1);
    return reinterpret_cast<Function *>(found);
}

// The norm-wise difference of two results; a NaN anywhere makes it one.
inline double difference(const float *found, const float *expected, size_t count) {
    double apart = 0, size = 0;
    for (size_t i = 0; i < count; ++i) {
        const double d = double(found[i]) - expected[i];
        apart += d * d, size += double(expected[i]) * expected[i];
    }
    return std::sqrt(apart / std::max(size, 1e-300));
}

// Until the time is up, but at least 5 rounds and at most 60; each sample lasts at least some milliseconds.
inline void interleave(const std::vector<Job> &jobs, double budget_seconds, double sample_seconds = 4e-3) {
    std::vector<int> repeats;
    for (const Job &job : jobs) {
        job.run();
        const double start = clock_seconds();
        job.run();
        repeats.push_back(std::max(1, int(sample_seconds / std::max(1e-7, clock_seconds() - start))));
    }
    std::vector<std::vector<double>> seconds(jobs.size());
    std::vector<size_t> order(jobs.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::mt19937 random(11);
    const double end = clock_seconds() + budget_seconds;
    for (int round = 0; round < 60 && (round < 5 || clock_seconds() < end); ++round) {
        std::shuffle(order.begin(), order.end(), random);
        for (size_t i : order) {
            jobs[i].run();
            const double start = clock_seconds();
            for (int r = 0; r < repeats[i]; ++r) jobs[i].run();
            seconds[i].push_back((clock_seconds() - start) / repeats[i]);
        }
    }
    std::printf("\"seconds\": {");
    for (size_t i = 0; i < jobs.size(); ++i) {
        std::printf("%s\"%s\": [", i ? ", " : "", jobs[i].name.c_str());
        for (size_t k = 0; k < seconds[i].size(); ++k) std::printf("%s%.6g", k ? ", " : "", seconds[i][k]);
        std::printf("]");
    }
    std::printf("}");
}

#endif
