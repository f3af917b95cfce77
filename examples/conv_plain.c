/* The convolution of conv.c in the plain layouts, without any blocking: activations as images, channels, rows,
 * columns (NCHW) and filters as output channels, input channels, rows, columns (KCRS).
 *
 * The innermost dimension of the activations is the row of an image, not the channel. The input has been padded
 * beforehand. Override a size with -D, for example -D nImg=1.
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
#define ifhp ((ofh - 1) * STRIDE_H + kh)
#define ifwp ((ofw - 1) * STRIDE_W + kw)

void conv_plain(float output[nImg][nOfm][ofh][ofw], const float filter[nOfm][nIfm][kh][kw],
                const float input[nImg][nIfm][ifhp][ifwp])
{
#pragma scop
  for (int img = 0; img < nImg; ++img)
    for (int ofm = 0; ofm < nOfm; ++ofm)
      for (int ifm = 0; ifm < nIfm; ++ifm)
        for (int oj = 0; oj < ofh; ++oj)
          for (int oi = 0; oi < ofw; ++oi)
            for (int kj = 0; kj < kh; ++kj)
              for (int ki = 0; ki < kw; ++ki)
                output[img][ofm][oj][oi] +=
                    filter[ofm][ifm][kj][ki] * input[img][ifm][oj * STRIDE_H + kj][oi * STRIDE_W + ki];
#pragma endscop
}
