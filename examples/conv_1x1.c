/* A 1x1 convolution, blocked by channels: ResNet-50's layer with 64 input and 256 output channels on images of 56x56,
 * for 28 images.
 *
 * With a stride of 1, rows and columns of the image together are one dimension of the matrix product. Override a
 * size with -D, for example -D nImg=1 or -D STRIDE=2.
 */
#ifndef nImg
#define nImg 28
#endif
#ifndef nIfm
#define nIfm 64
#endif
#ifndef nOfm
#define nOfm 256
#endif
#ifndef ofh
#define ofh 56
#endif
#ifndef ofw
#define ofw 56
#endif
#ifndef STRIDE
#define STRIDE 1
#endif
#ifndef GEMM_BLOCK
#define GEMM_BLOCK 64
#endif
#define ifh ((ofh - 1) * STRIDE + 1)
#define ifw ((ofw - 1) * STRIDE + 1)

void conv_1x1(float output[nImg][nOfm / GEMM_BLOCK][ofh][ofw][GEMM_BLOCK],
              const float filter[nOfm / GEMM_BLOCK][nIfm / GEMM_BLOCK][GEMM_BLOCK][GEMM_BLOCK],
              const float input[nImg][nIfm / GEMM_BLOCK][ifh][ifw][GEMM_BLOCK])
{
#pragma scop
  for (int img = 0; img < nImg; ++img)
    for (int ofm_tile = 0; ofm_tile < nOfm / GEMM_BLOCK; ++ofm_tile)
      for (int ifm_tile = 0; ifm_tile < nIfm / GEMM_BLOCK; ++ifm_tile)
        for (int oj = 0; oj < ofh; ++oj)
          for (int oi = 0; oi < ofw; ++oi)
            for (int ofm = 0; ofm < GEMM_BLOCK; ++ofm)
              for (int ifm = 0; ifm < GEMM_BLOCK; ++ifm)
                output[img][ofm_tile][oj][oi][ofm] +=
                    filter[ofm_tile][ifm_tile][ifm][ofm] * input[img][ifm_tile][oj * STRIDE][oi * STRIDE][ifm];
#pragma endscop
}
