/* The one object of libpolydl_xsmm.so that isn't LIBXSMM's: which LIBXSMM was linked into it. */
#include <libxsmm.h>

extern const char polydl_libxsmm_version[];
const char polydl_libxsmm_version[] = LIBXSMM_CONFIG_VERSION;
