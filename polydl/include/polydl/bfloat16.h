/* bfloat16 in C: the upper half of a float. Loop nests compute with floats, and convert what they read and write. */
#ifndef POLYDL_BFLOAT16_H
#define POLYDL_BFLOAT16_H

typedef unsigned short bfloat16;

/* Not `inline`, or pet would look for loops in these functions. Compilers inline them all the same. */
#ifdef __GNUC__
#define POLYDL_BFLOAT16_FUNCTION __attribute__((unused)) static
#else
#define POLYDL_BFLOAT16_FUNCTION static
#endif

/* Exact. */
POLYDL_BFLOAT16_FUNCTION float bfloat16_to_float(bfloat16 x)
{
  union { unsigned int bits; float value; } wide;
  wide.bits = (unsigned int)x << 16;
  return wide.value;
}

/* The nearest bfloat16, the even one of two; what is not a number stays that. */
POLYDL_BFLOAT16_FUNCTION bfloat16 float_to_bfloat16(float x)
{
  union { float value; unsigned int bits; } wide;
  wide.value = x;
  return (bfloat16)(x == x ? (wide.bits + 0x7fffu + ((wide.bits >> 16) & 1u)) >> 16 : wide.bits >> 16 | 0x40u);
}

#endif
