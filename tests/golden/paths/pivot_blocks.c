#include <stddef.h>
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* processor */
/* team */
static struct polydl_team polydl_team;

/* Shortest paths: the iteration j = k writes what all others of j read. */
#define paths polydl_tuned_paths
#if defined __GNUC__ && !defined __clang__
__attribute__((noipa))
#endif
static void paths(int path[50][50])
{
  {
    struct polydl_call polydl_call;
    polydl_begin(&polydl_call, &polydl_team, 1);
    int path_before[50][16] __attribute__((aligned(64)));
    int path_before_[16][50] __attribute__((aligned(64)));
    int path_after[50][16] __attribute__((aligned(64)));
    int path_after_[16][50] __attribute__((aligned(64)));
    for (int k_block = 0; k_block <= 2; ++k_block) {
      for (int polydl_c3 = 0; polydl_c3 <= 15; ++polydl_c3) {
        #pragma omp simd simdlen(16)
        for (int polydl_c5 = 0; polydl_c5 <= 49; ++polydl_c5) {
          path_before[polydl_c5][polydl_c3] = path[polydl_c5][16 * (long)k_block + (long)polydl_c3];
        }
        #pragma omp simd simdlen(16)
        for (int polydl_c5 = 0; polydl_c5 <= 49; ++polydl_c5) {
          path_before_[polydl_c3][polydl_c5] = path[16 * (long)k_block + (long)polydl_c3][polydl_c5];
        }
        for (int polydl_c5 = 0; polydl_c5 < (16 * k_block); ++polydl_c5) {
          #pragma omp simd simdlen(16)
          for (int polydl_c6 = 16 * k_block; polydl_c6 < ((16 * k_block) + polydl_c3); ++polydl_c6) {
            path[polydl_c5][polydl_c6] = (path[polydl_c5][polydl_c6] < (path[polydl_c5][16 * (long)k_block + (long)polydl_c3] + path[16 * (long)k_block + (long)polydl_c3][polydl_c6])) ? path[polydl_c5][polydl_c6] : (path[polydl_c5][16 * (long)k_block + (long)polydl_c3] + path[16 * (long)k_block + (long)polydl_c3][polydl_c6]);
          }
        }
        #pragma omp simd simdlen(16)
        for (int polydl_c5 = 0; polydl_c5 < (16 * k_block); ++polydl_c5) {
          path[polydl_c5][(16 * k_block) + polydl_c3] = (path[polydl_c5][(16 * k_block) + polydl_c3] < (path[polydl_c5][16 * (long)k_block + (long)polydl_c3] + path[16 * (long)k_block + (long)polydl_c3][(16 * k_block) + polydl_c3])) ? path[polydl_c5][(16 * k_block) + polydl_c3] : (path[polydl_c5][16 * (long)k_block + (long)polydl_c3] + path[16 * (long)k_block + (long)polydl_c3][(16 * k_block) + polydl_c3]);
        }
        for (int polydl_c5 = 0; polydl_c5 < (16 * k_block); ++polydl_c5) {
          #pragma omp simd simdlen(16)
          for (int polydl_c6 = ((16 * k_block) + polydl_c3) + 1; polydl_c6 <= ((16 * k_block) + 15); ++polydl_c6) {
            path[polydl_c5][polydl_c6] = (path[polydl_c5][polydl_c6] < (path[polydl_c5][16 * (long)k_block + (long)polydl_c3] + path[16 * (long)k_block + (long)polydl_c3][polydl_c6])) ? path[polydl_c5][polydl_c6] : (path[polydl_c5][16 * (long)k_block + (long)polydl_c3] + path[16 * (long)k_block + (long)polydl_c3][polydl_c6]);
          }
        }
        for (int polydl_c5 = 16 * k_block; polydl_c5 <= ((16 * k_block) + 15); ++polydl_c5) {
          #pragma omp simd simdlen(16)
          for (int polydl_c6 = 0; polydl_c6 < ((16 * k_block) + polydl_c3); ++polydl_c6) {
            path[polydl_c5][polydl_c6] = (path[polydl_c5][polydl_c6] < (path[polydl_c5][16 * (long)k_block + (long)polydl_c3] + path[16 * (long)k_block + (long)polydl_c3][polydl_c6])) ? path[polydl_c5][polydl_c6] : (path[polydl_c5][16 * (long)k_block + (long)polydl_c3] + path[16 * (long)k_block + (long)polydl_c3][polydl_c6]);
          }
        }
        for (int polydl_c5 = 16 * k_block; polydl_c5 <= ((16 * k_block) + 15); ++polydl_c5) {
          path[polydl_c5][(16 * k_block) + polydl_c3] = (path[polydl_c5][(16 * k_block) + polydl_c3] < (path[polydl_c5][16 * (long)k_block + (long)polydl_c3] + path[16 * (long)k_block + (long)polydl_c3][(16 * k_block) + polydl_c3])) ? path[polydl_c5][(16 * k_block) + polydl_c3] : (path[polydl_c5][16 * (long)k_block + (long)polydl_c3] + path[16 * (long)k_block + (long)polydl_c3][(16 * k_block) + polydl_c3]);
        }
        for (int polydl_c5 = 16 * k_block; polydl_c5 <= ((16 * k_block) + 15); ++polydl_c5) {
          #pragma omp simd simdlen(16)
          for (int polydl_c6 = ((16 * k_block) + polydl_c3) + 1; polydl_c6 <= 49; ++polydl_c6) {
            path[polydl_c5][polydl_c6] = (path[polydl_c5][polydl_c6] < (path[polydl_c5][16 * (long)k_block + (long)polydl_c3] + path[16 * (long)k_block + (long)polydl_c3][polydl_c6])) ? path[polydl_c5][polydl_c6] : (path[polydl_c5][16 * (long)k_block + (long)polydl_c3] + path[16 * (long)k_block + (long)polydl_c3][polydl_c6]);
          }
        }
        for (int polydl_c5 = (16 * k_block) + 16; polydl_c5 <= 49; ++polydl_c5) {
          #pragma omp simd simdlen(16)
          for (int polydl_c6 = 16 * k_block; polydl_c6 < ((16 * k_block) + polydl_c3); ++polydl_c6) {
            path[polydl_c5][polydl_c6] = (path[polydl_c5][polydl_c6] < (path[polydl_c5][16 * (long)k_block + (long)polydl_c3] + path[16 * (long)k_block + (long)polydl_c3][polydl_c6])) ? path[polydl_c5][polydl_c6] : (path[polydl_c5][16 * (long)k_block + (long)polydl_c3] + path[16 * (long)k_block + (long)polydl_c3][polydl_c6]);
          }
        }
        #pragma omp simd simdlen(16)
        for (int polydl_c5 = (16 * k_block) + 16; polydl_c5 <= 49; ++polydl_c5) {
          path[polydl_c5][(16 * k_block) + polydl_c3] = (path[polydl_c5][(16 * k_block) + polydl_c3] < (path[polydl_c5][16 * (long)k_block + (long)polydl_c3] + path[16 * (long)k_block + (long)polydl_c3][(16 * k_block) + polydl_c3])) ? path[polydl_c5][(16 * k_block) + polydl_c3] : (path[polydl_c5][16 * (long)k_block + (long)polydl_c3] + path[16 * (long)k_block + (long)polydl_c3][(16 * k_block) + polydl_c3]);
        }
        for (int polydl_c5 = (16 * k_block) + 16; polydl_c5 <= 49; ++polydl_c5) {
          #pragma omp simd simdlen(16)
          for (int polydl_c6 = ((16 * k_block) + polydl_c3) + 1; polydl_c6 <= ((16 * k_block) + 15); ++polydl_c6) {
            path[polydl_c5][polydl_c6] = (path[polydl_c5][polydl_c6] < (path[polydl_c5][16 * (long)k_block + (long)polydl_c3] + path[16 * (long)k_block + (long)polydl_c3][polydl_c6])) ? path[polydl_c5][polydl_c6] : (path[polydl_c5][16 * (long)k_block + (long)polydl_c3] + path[16 * (long)k_block + (long)polydl_c3][polydl_c6]);
          }
        }
        #pragma omp simd simdlen(16)
        for (int polydl_c5 = 0; polydl_c5 <= 49; ++polydl_c5) {
          path_after[polydl_c5][polydl_c3] = path[polydl_c5][16 * (long)k_block + (long)polydl_c3];
        }
        #pragma omp simd simdlen(16)
        for (int polydl_c5 = 0; polydl_c5 <= 49; ++polydl_c5) {
          path_after_[polydl_c3][polydl_c5] = path[16 * (long)k_block + (long)polydl_c3][polydl_c5];
        }
      }
      polydl_between();
      #pragma omp parallel for
      for (int polydl_c3 = 0; polydl_c3 < (4 * k_block); ++polydl_c3) {
        for (int polydl_c5 = 0; polydl_c5 <= 1; ++polydl_c5) {
          for (int polydl_c7 = 0; polydl_c7 <= 3; ++polydl_c7) {
            for (int k = 0; k <= 7; ++k) {
              #pragma omp simd simdlen(16)
              for (int j = 0; j < (16 * k_block); ++j) {
                path[4 * (long)polydl_c3 + (long)polydl_c7][j] = (path[4 * (long)polydl_c3 + (long)polydl_c7][j] < (path_before[4 * (long)polydl_c3 + (long)polydl_c7][8 * (long)polydl_c5 + (long)k] + path_before_[8 * (long)polydl_c5 + (long)k][j])) ? path[4 * (long)polydl_c3 + (long)polydl_c7][j] : (path_before[4 * (long)polydl_c3 + (long)polydl_c7][8 * (long)polydl_c5 + (long)k] + path_before_[8 * (long)polydl_c5 + (long)k][j]);
              }
            }
          }
        }
      }
      polydl_between();
      #pragma omp parallel for
      for (int polydl_c3 = 0; polydl_c3 < (4 * k_block); ++polydl_c3) {
        for (int polydl_c5 = 0; polydl_c5 <= 1; ++polydl_c5) {
          for (int polydl_c7 = 0; polydl_c7 <= 3; ++polydl_c7) {
            for (int k = 0; k <= 7; ++k) {
              #pragma omp simd simdlen(16)
              for (int j = (16 * k_block) + 16; j <= 49; ++j) {
                path[4 * (long)polydl_c3 + (long)polydl_c7][j] = (path[4 * (long)polydl_c3 + (long)polydl_c7][j] < (path_after[4 * (long)polydl_c3 + (long)polydl_c7][8 * (long)polydl_c5 + (long)k] + path_before_[8 * (long)polydl_c5 + (long)k][j])) ? path[4 * (long)polydl_c3 + (long)polydl_c7][j] : (path_after[4 * (long)polydl_c3 + (long)polydl_c7][8 * (long)polydl_c5 + (long)k] + path_before_[8 * (long)polydl_c5 + (long)k][j]);
              }
            }
          }
        }
      }
      if (k_block == 1) {
        polydl_between();
        #pragma omp parallel for
        for (int polydl_c3 = 8; polydl_c3 <= 11; ++polydl_c3) {
          for (int polydl_c5 = 0; polydl_c5 <= 1; ++polydl_c5) {
            for (int polydl_c7 = 0; polydl_c7 <= 3; ++polydl_c7) {
              for (int k = 0; k <= 7; ++k) {
                #pragma omp simd simdlen(16)
                for (int j = 0; j <= 15; ++j) {
                  path[4 * (long)polydl_c3 + (long)polydl_c7][j] = (path[4 * (long)polydl_c3 + (long)polydl_c7][j] < (path_before[4 * (long)polydl_c3 + (long)polydl_c7][8 * (long)polydl_c5 + (long)k] + path_after_[8 * (long)polydl_c5 + (long)k][j])) ? path[4 * (long)polydl_c3 + (long)polydl_c7][j] : (path_before[4 * (long)polydl_c3 + (long)polydl_c7][8 * (long)polydl_c5 + (long)k] + path_after_[8 * (long)polydl_c5 + (long)k][j]);
                }
              }
            }
          }
        }
      }
      for (int polydl_c3 = 0; polydl_c3 <= 1; ++polydl_c3) {
        for (int polydl_c5 = 48; polydl_c5 <= 49; ++polydl_c5) {
          for (int polydl_c6 = 0; polydl_c6 <= 7; ++polydl_c6) {
            #pragma omp simd simdlen(16)
            for (int polydl_c7 = 0; polydl_c7 < (16 * k_block); ++polydl_c7) {
              path[polydl_c5][polydl_c7] = (path[polydl_c5][polydl_c7] < (path_before[polydl_c5][8 * (long)polydl_c3 + (long)polydl_c6] + path_after_[8 * (long)polydl_c3 + (long)polydl_c6][polydl_c7])) ? path[polydl_c5][polydl_c7] : (path_before[polydl_c5][8 * (long)polydl_c3 + (long)polydl_c6] + path_after_[8 * (long)polydl_c3 + (long)polydl_c6][polydl_c7]);
            }
          }
        }
      }
      polydl_between();
      #pragma omp parallel for
      for (int polydl_c3 = (4 * k_block) + 4; polydl_c3 <= 11; ++polydl_c3) {
        for (int polydl_c5 = 0; polydl_c5 <= 1; ++polydl_c5) {
          for (int polydl_c7 = 0; polydl_c7 <= 3; ++polydl_c7) {
            for (int k = 0; k <= 7; ++k) {
              #pragma omp simd simdlen(16)
              for (int j = (16 * k_block) + 16; j <= 49; ++j) {
                path[4 * (long)polydl_c3 + (long)polydl_c7][j] = (path[4 * (long)polydl_c3 + (long)polydl_c7][j] < (path_after[4 * (long)polydl_c3 + (long)polydl_c7][8 * (long)polydl_c5 + (long)k] + path_after_[8 * (long)polydl_c5 + (long)k][j])) ? path[4 * (long)polydl_c3 + (long)polydl_c7][j] : (path_after[4 * (long)polydl_c3 + (long)polydl_c7][8 * (long)polydl_c5 + (long)k] + path_after_[8 * (long)polydl_c5 + (long)k][j]);
              }
            }
          }
        }
      }
      for (int polydl_c3 = 0; polydl_c3 <= 1; ++polydl_c3) {
        for (int polydl_c5 = 48; polydl_c5 <= 49; ++polydl_c5) {
          for (int polydl_c6 = 0; polydl_c6 <= 7; ++polydl_c6) {
            #pragma omp simd simdlen(16)
            for (int polydl_c7 = (16 * k_block) + 16; polydl_c7 <= 49; ++polydl_c7) {
              path[polydl_c5][polydl_c7] = (path[polydl_c5][polydl_c7] < (path_after[polydl_c5][8 * (long)polydl_c3 + (long)polydl_c6] + path_after_[8 * (long)polydl_c3 + (long)polydl_c6][polydl_c7])) ? path[polydl_c5][polydl_c7] : (path_after[polydl_c5][8 * (long)polydl_c3 + (long)polydl_c6] + path_after_[8 * (long)polydl_c3 + (long)polydl_c6][polydl_c7]);
            }
          }
        }
      }
    }
    for (int k = 48; k <= 49; ++k) {
      for (int i = 0; i <= 49; ++i) {
        #pragma omp simd simdlen(16)
        for (int j = 0; j < k; ++j) {
          path[i][j] = (path[i][j] < (path[i][k] + path[k][j])) ? path[i][j] : (path[i][k] + path[k][j]);
        }
      }
      for (int i = 0; i <= 49; ++i) {
        path[i][k] = (path[i][k] < (path[i][k] + path[k][k])) ? path[i][k] : (path[i][k] + path[k][k]);
      }
      if (k == 48) {
        for (int i = 0; i <= 49; ++i) {
          path[i][49] = (path[i][49] < (path[i][48] + path[48][49])) ? path[i][49] : (path[i][48] + path[48][49]);
        }
      }
    }
    polydl_end(&polydl_call);
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
