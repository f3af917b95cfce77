/* A product of bytes in plain layouts, one operand with signs. */
#include <stdint.h>
void bytes(int32_t C[64][96], const uint8_t A[64][128], const int8_t B[128][96])
{
#pragma scop
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 96; j++)
      for (int k = 0; k < 128; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
