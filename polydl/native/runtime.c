/* The instruction set is chosen when the program runs, so that one build serves every x86-64 machine. */
#include "runtime.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* As many sums as cover the latency of four cycles of two pipelines, with some to spare; AArch64 has cores of four. */
#if defined(__aarch64__)
enum { ACCUMULATORS = 16 };
#else
enum { ACCUMULATORS = 12 };
#endif

enum { STREAMS = 8, LINE = 64, HUGE_PAGE = 2 << 20 };

/* Keeps a vector in its register and hides its value from the optimizer. */
#if defined(__x86_64__)
#define OPAQUE(vector) __asm__ volatile("" : "+v"(vector))
#else
#define OPAQUE(vector) __asm__ volatile("" : "+w"(vector))
#endif

void *polydl_allocate(size_t bytes, size_t alignment) {
  void *memory = NULL;
  if (posix_memalign(&memory, alignment, bytes ? bytes : 1) != 0)
    return NULL;
  return memory;
}

void polydl_free(void *memory) { free(memory); }

double polydl_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- multiply-adds and reads, once per instruction set ----------------------------------------

   Multiply-adds: each accumulator depends on itself alone, and all of them stay in registers beside the two operands.
   They are what is added to, which AArch64's multiply-adds overwrite; a factor that may be another one each time keeps
   the product from being computed once. Reads are or-ed together, since or is the cheapest operation that uses a
   load. */

#define MULTIPLY_ADDS(NAME, TARGET, VECTOR, SPLAT, FMA)                                            \
  TARGET static void NAME(long iterations) {                                                       \
    VECTOR factor = SPLAT(0.999f), term = SPLAT(0.001f), sums[ACCUMULATORS];                       \
    for (int i = 0; i < ACCUMULATORS; ++i)                                                         \
      sums[i] = SPLAT(0.5f);                                                                       \
    OPAQUE(term);                                                                                  \
    for (long round = 0; round < iterations; ++round) {                                            \
      _Pragma("GCC unroll 16") for (int i = 0; i < ACCUMULATORS; ++i) {                            \
        OPAQUE(factor);                                                                            \
        sums[i] = FMA(factor, term, sums[i]);                                                      \
      }                                                                                            \
    }                                                                                              \
    _Pragma("GCC unroll 16") for (int i = 0; i < ACCUMULATORS; ++i) OPAQUE(sums[i]);               \
  }

#define READS(NAME, TARGET, VECTOR, ZERO, LOAD, OR)                                                \
  TARGET static void NAME(const char *block, size_t bytes, long passes) {                          \
    const size_t step = STREAMS * sizeof(VECTOR);                                                  \
    VECTOR seen[STREAMS];                                                                          \
    _Pragma("GCC unroll 8") for (int i = 0; i < STREAMS; ++i) seen[i] = ZERO;                      \
    for (long pass = 0; pass < passes; ++pass) {                                                   \
      for (size_t at = 0; at + step <= bytes; at += step) {                                        \
        _Pragma("GCC unroll 8") for (int i = 0; i < STREAMS; ++i)                                  \
            seen[i] = OR(seen[i], LOAD(block + at + (size_t)i * sizeof(VECTOR)));                  \
      }                                                                                            \
      __asm__ volatile("" ::: "memory");                                                           \
    }                                                                                              \
    _Pragma("GCC unroll 8") for (int i = 0; i < STREAMS; ++i) OPAQUE(seen[i]);                     \
  }

typedef float generic_floats __attribute__((vector_size(16)));
typedef int32_t generic_words __attribute__((vector_size(16)));
#define GENERIC_SPLAT(x) ((generic_floats){x, x, x, x})
#define GENERIC_FMA(a, b, c) ((a) * (b) + (c))
#define GENERIC_ZERO ((generic_words){0, 0, 0, 0})
#define GENERIC_LOAD(p) (*(const generic_words *)(const void *)(p))
#define GENERIC_OR(a, b) ((a) | (b))
MULTIPLY_ADDS(multiply_adds_generic, , generic_floats, GENERIC_SPLAT, GENERIC_FMA)
READS(reads_generic, , generic_words, GENERIC_ZERO, GENERIC_LOAD, GENERIC_OR)

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2,fma")))
#define AVX512 __attribute__((target("avx512f")))
#define AVX2_LOAD(p) _mm256_load_si256((const __m256i *)(const void *)(p))
#define AVX512_LOAD(p) _mm512_load_si512((const void *)(p))
MULTIPLY_ADDS(multiply_adds_avx2, AVX2, __m256, _mm256_set1_ps, _mm256_fmadd_ps)
MULTIPLY_ADDS(multiply_adds_avx512, AVX512, __m512, _mm512_set1_ps, _mm512_fmadd_ps)
READS(reads_avx2, AVX2, __m256i, _mm256_setzero_si256(), AVX2_LOAD, _mm256_or_si256)
READS(reads_avx512, AVX512, __m512i, _mm512_setzero_si512(), AVX512_LOAD, _mm512_or_si512)
#endif

struct isa {
  const char *name;
  size_t vector_bytes;
  void (*multiply_adds)(long);
  void (*reads)(const char *, size_t, long);
};

static const struct isa *isa(void) {
  static const struct isa generic = {"generic", 16, multiply_adds_generic, reads_generic};
#if defined(__x86_64__)
  static const struct isa avx2 = {"avx2", 32, multiply_adds_avx2, reads_avx2};
  static const struct isa avx512 = {"avx512", 64, multiply_adds_avx512, reads_avx512};
  if (__builtin_cpu_supports("avx512f"))
    return &avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return &avx2;
#endif
  return &generic;
}

const char *polydl_isa(void) { return isa()->name; }

size_t polydl_vector_bytes(void) { return isa()->vector_bytes; }

double polydl_fma_gflops(long iterations) {
  const struct isa *chosen = isa();
  const double lanes = (double)chosen->vector_bytes / sizeof(float);
  const double start = polydl_seconds();
  chosen->multiply_adds(iterations);
  const double seconds = polydl_seconds() - start;
  return 2.0 * lanes * ACCUMULATORS * (double)iterations / seconds * 1e-9;
}

/* ---- caches ----------------------------------------------------------------------------------- */

void polydl_flush(const void *memory, size_t bytes) {
#if defined(__x86_64__)
  const char *first = (const char *)((uintptr_t)memory & ~(uintptr_t)(LINE - 1));
  for (const char *line = first; line < (const char *)memory + bytes; line += LINE)
    _mm_clflush(line);
  _mm_mfence();
#else
  (void)memory;
  (void)bytes;
#endif
}

void polydl_evict(void *memory, size_t bytes) {
  volatile char *block = memory;
  for (size_t at = 0; at < bytes; at += LINE)
    block[at] = block[at];
}

/* Large pages, where the system grants them, keep misses of the TLB out of what is measured. */
static char *working_set(size_t bytes) {
  char *block = polydl_allocate(bytes, bytes >= HUGE_PAGE ? HUGE_PAGE : 4096);
  if (block == NULL)
    return NULL;
  if (bytes >= HUGE_PAGE)
    madvise(block, bytes, MADV_HUGEPAGE);
  memset(block, 1, bytes);
  return block;
}

/* xorshift64: the walk needs no better, and must not change the state of the program's generator. */
static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

/* Sattolo's algorithm: a permutation that is one single cycle, so that the walk visits every line. */
static void link_lines(char *block, size_t lines, size_t line_bytes) {
  uint64_t state = 0x9e3779b97f4a7c15u;
  for (size_t i = 0; i < lines; ++i)
    *(size_t *)(void *)(block + i * line_bytes) = i;
  for (size_t i = lines - 1; i > 0; --i) {
    size_t *a = (size_t *)(void *)(block + i * line_bytes);
    size_t *b = (size_t *)(void *)(block + (next_random(&state) % i) * line_bytes);
    const size_t swapped = *a;
    *a = *b;
    *b = swapped;
  }
  for (size_t i = 0; i < lines; ++i) {
    char *line = block + i * line_bytes;
    *(void **)(void *)line = block + *(size_t *)(void *)line * line_bytes;
  }
}

static void *walk(void *from, long accesses) {
  void *at = from;
  for (long i = 0; i < accesses; ++i)
    at = *(void *volatile *)at;
  return at;
}

double polydl_latency(size_t bytes, size_t line_bytes, long accesses, int repeats) {
  const size_t lines = bytes / line_bytes;
  double best = -1.0;
  if (lines < 2 || line_bytes < sizeof(void *) || accesses < 1)
    return -1.0;
  char *block = working_set(lines * line_bytes);
  if (block == NULL)
    return -1.0;
  link_lines(block, lines, line_bytes);
  void *at = walk(block, (size_t)accesses < lines ? accesses : (long)lines);
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const double start = polydl_seconds();
    at = walk(at, accesses);
    const double seconds = (polydl_seconds() - start) / (double)accesses;
    if (best < 0.0 || seconds < best)
      best = seconds;
  }
  polydl_free(block);
  return best;
}

double polydl_read_bandwidth(size_t bytes, size_t bytes_read, int repeats) {
  const struct isa *chosen = isa();
  const size_t step = STREAMS * chosen->vector_bytes;
  const size_t whole = bytes / step * step;
  double best = -1.0;
  if (whole == 0)
    return -1.0;
  char *block = working_set(whole);
  if (block == NULL)
    return -1.0;
  const long passes = (long)((bytes_read + whole - 1) / whole);
  chosen->reads(block, whole, 1);
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const double start = polydl_seconds();
    chosen->reads(block, whole, passes);
    const double rate = (double)whole * (double)passes / (polydl_seconds() - start);
    if (rate > best)
      best = rate;
  }
  polydl_free(block);
  return best;
}
