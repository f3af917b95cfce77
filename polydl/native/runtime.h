/* What Python and generated programs need from C: aligned memory, a clock and probes of one core. */
#ifndef POLYDL_RUNTIME_H
#define POLYDL_RUNTIME_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define POLYDL_API __attribute__((visibility("default")))

/* Memory aligned to a power of two that is at least sizeof(void *); NULL if there is none. */
POLYDL_API void *polydl_allocate(size_t bytes, size_t alignment);
POLYDL_API void polydl_free(void *memory);

/* Seconds of a clock that never goes back; only differences mean something. */
POLYDL_API double polydl_seconds(void);

/* The instruction set that the probes use ("avx512", "avx2" or "generic"), and its vectors' length. */
POLYDL_API const char *polydl_isa(void);
POLYDL_API size_t polydl_vector_bytes(void);

/* GFLOPS (fp32, a multiply-add counts 2) of the calling core over `iterations` rounds of 12
   independent vector multiply-adds (16 on AArch64). 100000 rounds take some 0.3 to 1 ms. */
POLYDL_API double polydl_fma_gflops(long iterations);

/* Drops the lines of a block from every cache (a no-op where user code can't). */
POLYDL_API void polydl_flush(const void *memory, size_t bytes);

/* Reads and writes back every line of a block, so that what the caches held before is evicted. */
POLYDL_API void polydl_evict(void *memory, size_t bytes);

/* Seconds per dependent load that walks the lines of a working set in random order; the best of
   `repeats` runs of `accesses` loads. Negative if there is not enough memory. */
POLYDL_API double polydl_latency(size_t bytes, size_t line_bytes, long accesses, int repeats);

/* Bytes per second that the calling core reads from a working set, in order, reading at least
   `bytes_read` per run; the best of `repeats` runs. Negative if there is not enough memory. */
POLYDL_API double polydl_read_bandwidth(size_t bytes, size_t bytes_read, int repeats);

#ifdef __cplusplus
}
#endif

#endif
