#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */

/* Shortest paths: the iteration j = k writes what all others of j read. */
#define paths polydl_tuned_paths
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void paths(int path[50][50])
{
  {
    for (int k = 0; k <= 49; ++k) {
      for (int i = 0; i <= 49; ++i) {
        #pragma omp simd simdlen(16)
        for (int j = 0; j < k; ++j) {
          path[i][j] = (path[i][j] < (path[i][k] + path[k][j])) ? path[i][j] : (path[i][k] + path[k][j]);
        }
      }
      for (int i = 0; i <= 49; ++i) {
        path[i][k] = (path[i][k] < (path[i][k] + path[k][k])) ? path[i][k] : (path[i][k] + path[k][k]);
      }
      for (int i = 0; i <= 49; ++i) {
        #pragma omp simd simdlen(16)
        for (int j = k + 1; j <= 49; ++j) {
          path[i][j] = (path[i][j] < (path[i][k] + path[k][j])) ? path[i][j] : (path[i][k] + path[k][j]);
        }
      }
    }
  }
}
#undef paths

/* for all processors */
void paths(int path[50][50])
{
  if (polydl_fits()) {
    polydl_tuned_paths(path);
    return;
  }
#ifdef POLYDL_TUNED_ALONE /* to time it on a processor that has what it needs */
  __builtin_trap();
#else
  for (int k = 0; k < 50; k++)
    for (int i = 0; i < 50; i++)
      for (int j = 0; j < 50; j++)
        path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
#endif
}
void paths_release(void);
void paths_release(void)
{
}
const char *paths_missing(void);
const char *paths_missing(void)
{
  return polydl_missing();
}
/* for this one */
