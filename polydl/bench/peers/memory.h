/* Aligned, cleared memory, in huge pages where they pay: NumPy, which holds polydl's arrays, asks for the same. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static inline float *make_array(size_t bytes) {
  const size_t huge = (size_t)2 << 20;
  void *memory = NULL;
  bytes = bytes ? bytes : 1;
  if (posix_memalign(&memory, bytes >= 2 * huge ? huge : 64, bytes) != 0)
    return NULL;
  if (bytes >= 2 * huge)
    madvise(memory, bytes, MADV_HUGEPAGE);
  memset(memory, 0, bytes);
  return (float *)memory;
}

#endif
