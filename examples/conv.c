/* A 2-D convolution with activations and filters blocked by channels (the paper's Figure 8).
 *
 * The default sizes are those of ResNet-50's layer with 64 input and 64 output channels, 3x3 filters and images of
 * 56x56, for 28 images. The input has been padded beforehand, so that its images are 58x58. The two innermost loops
 * and oi are a matrix product. Override a size with -D, for example -D nImg=1.
 */
#ifndef nImg
#define nImg 28
#endif
#ifndef nIfm
#define nIfm 64
#endif
#ifndef nOfm
#define nOfm 64
#endif
#ifndef ofh
#define ofh 56
#endif
#ifndef ofw
#define ofw 56
#endif
#ifndef kh
#define kh 3
#endif
#ifndef kw
#define kw 3
#endif
#ifndef STRIDE_H
#define STRIDE_H 1
#endif
#ifndef STRIDE_W
#define STRIDE_W 1
#endif
#ifndef GEMM_BLOCK
#define GEMM_BLOCK 64
#endif
#define ifhp ((ofh - 1) * STRIDE_H + kh)
#define ifwp ((ofw - 1) * STRIDE_W + kw)

void conv(float output[nImg][nOfm / GEMM_BLOCK][ofh][ofw][GEMM_BLOCK],
          const float filter[nOfm / GEMM_BLOCK][nIfm / GEMM_BLOCK][kh][kw][GEMM_BLOCK][GEMM_BLOCK],
          const float input[nImg][nIfm / GEMM_BLOCK][ifhp][ifwp][GEMM_BLOCK])
{
  int img, ofm_tile, ifm_tile, ij, oj, kj, ki, ii, oi, ofm, ifm;
#pragma scop
#pragma omp parallel for private(ofm_tile, ifm_tile, ij, oj, kj, ki, ii, oi, ofm, ifm)
  for (img = 0; img < nImg; ++img) {
    for (ofm_tile = 0; ofm_tile < nOfm / GEMM_BLOCK; ++ofm_tile) {
      for (ifm_tile = 0; ifm_tile < nIfm / GEMM_BLOCK; ++ifm_tile) {
        for (oj = 0; oj < ofh; ++oj) {
          ij = oj * STRIDE_H;
          for (kj = 0; kj < kh; ++kj) {
            for (ki = 0; ki < kw; ++ki) {
              for (oi = 0; oi < ofw; ++oi) {
                ii = oi * STRIDE_W;
                for (ofm = 0; ofm < GEMM_BLOCK; ++ofm) {
                  for (ifm = 0; ifm < GEMM_BLOCK; ++ifm) {
                    output[img][ofm_tile][oj][oi][ofm] +=
                        filter[ofm_tile][ifm_tile][kj][ki][ifm][ofm] * input[img][ifm_tile][ij + kj][ii + ki][ifm];
                  }
                }
              }
            }
          }
        }
      }
    }
  }
#pragma endscop
}
