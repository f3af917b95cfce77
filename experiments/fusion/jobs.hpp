// Jobs that are timed when rounds.py asks for them.
#ifndef JOBS_HPP
#define JOBS_HPP

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

// Prints the names of all jobs, and then answers each line "job repeats" with the seconds of a run: the mean of so many,
// after one that does not count.
inline void answer(const std::vector<Job> &jobs) {
    std::printf("\"jobs\": [");
    for (const Job &job : jobs) std::printf("%s\"%s\"", &job == &jobs[0] ? "" : ", ", job.name.c_str());
    std::printf("]}\n"), std::fflush(stdout);
    unsigned job, repeats;
    while (std::scanf("%u %u", &job, &repeats) == 2) {
        jobs.at(job).run();
        const double start = clock_seconds();
        for (unsigned r = 0; r < repeats; ++r) jobs[job].run();
        std::printf("%.6g\n", (clock_seconds() - start) / repeats), std::fflush(stdout);
    }
}

#endif
