/* What libpolydl_xsmm.so holds beside LIBXSMM: its version, and a start that leaves the process as it was. */
#define _POSIX_C_SOURCE 200112L
#include <libxsmm.h>
#include <stdlib.h>

extern const char polydl_libxsmm_version[];
const char polydl_libxsmm_version[] = LIBXSMM_CONFIG_VERSION;

/* LIBXSMM sets OMP_PROC_BIND when it starts. An OpenMP runtime that is loaded later would then pin the calling
   thread, and with it every thread that the host program starts, to one core. */
__attribute__((constructor)) static void start_without_binding(void) {
  const int bound = getenv("OMP_PROC_BIND") != NULL;
  libxsmm_init();
  if (!bound)
    unsetenv("OMP_PROC_BIND");
}
