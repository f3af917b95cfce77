#pragma GCC diagnostic ignored "-Wunused-variable"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

static inline int polydl_min(int a, int b) { return a < b ? a : b; }
static inline int polydl_max(int a, int b) { return a > b ? a : b; }

/* A convolution that keeps the size of the image: a condition finds out what lies beyond the border. */
void conv_same(float output[1][32][14][13], const float weights[32][16][3][3], const float input[1][16][14][13])
{
  {
    #pragma omp parallel for
    for (int k = 0; k <= 31; ++k) {
      for (int y = 0; y <= 13; ++y) {
        #pragma omp simd
        for (int x = 0; x <= 12; ++x) {
          output[0][k][y][x] = 0.0f;
        }
      }
    }
    #pragma omp parallel for schedule(dynamic)
    for (int k = 0; k <= 31; ++k) {
      for (int y = 0; y <= 13; ++y) {
        for (int c = 0; c <= 15; ++c) {
          for (int r = polydl_max(0, ((-y) + 1)); r <= polydl_min(2, ((-y) + 14)); ++r) {
            for (int s = 0; s <= 2; ++s) {
              #pragma omp simd
              for (int x = polydl_max(0, ((-s) + 1)); x <= polydl_min(12, ((-s) + 13)); ++x) {
                output[0][k][y][x] += weights[k][c][r][s] * input[0][c][y + r - 1][x + s - 1];
              }
            }
          }
        }
      }
    }
  }
}
