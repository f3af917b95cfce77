/* What a library that wraps a peer offers to polydl/bench/peers/process.py. Sizes and counts are in elements. */
#ifndef PEER_H
#define PEER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PEER_API __attribute__((visibility("default")))

/* Where the timed computation finds its arrays: where it likes best, in the plain layouts (NCHW, OIHW; by rows), or
   with channels last (NHWC, HWIO). */
enum { PEER_OWN = 0, PEER_PLAIN = 1, PEER_NHWC = 2 };

/* When weights are reordered and transformed: beforehand where layouts are the library's choice (and else each time), always
   beforehand, or each time (but for blocks, in which the nest is given its weights, too). */
enum { PEER_WEIGHTS_AS_LAYOUT = 0, PEER_WEIGHTS_PREPARED = 1, PEER_WEIGHTS_EACH_TIME = 2 };

/* Each returns NULL, or what is wrong. The arrays to fill are source and weights, always in the plain layouts: images
   and filters, or A and B. sizes: images, channels, filters, height, width, kernel height, kernel width, padding of
   the height, padding of the width, stride, groups, dilation. With direct, every product of the definition is computed. */
PEER_API const char *peer_convolution(const long *sizes, int layout, int when, int direct, float **source, float **weights);

/* sizes: m, n, k. With accumulate, the computation adds to the result. */
PEER_API const char *peer_product(const long *sizes, int layout, int when, int accumulate, float **source, float **weights);

/* Drops so many bytes from all caches. */
typedef void peer_flush(const void *array, size_t bytes);

/* Once both arrays are filled: choose how to compute, and clear the result. With flush (which may be NULL), what is
   fastest with empty caches. */
PEER_API const char *peer_ready(peer_flush *flush);

/* Seconds of so many computations in a row. */
PEER_API double peer_run(long repeats);

/* Flush each array that the computation reads or writes. */
PEER_API void peer_flush_arrays(peer_flush *flush);

/* The result so far, in the plain layout. */
PEER_API const float *peer_result(void);

/* Version and algorithm. */
PEER_API const char *peer_note(void);

#ifdef __cplusplus
}
#endif

#endif
