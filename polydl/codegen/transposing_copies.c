#ifndef polydl_transpose
#include <string.h>
#ifdef __GNUC__
#ifdef __clang__
#define POLYDL_UNROLLED _Pragma("clang loop unroll(full)")
#define POLYDL_CHOSEN(type, one, two, ...) __builtin_shufflevector(one, two, __VA_ARGS__)
#else
#define POLYDL_UNROLLED _Pragma("GCC unroll 16")
#define POLYDL_CHOSEN(type, one, two, ...) __builtin_shuffle(one, two, (type){__VA_ARGS__})
#endif
#define POLYDL_PLACES(...) __VA_ARGS__
/* Elements are moved as integers of their size, also where the rest of the file is compiled with other numbers. */
/* Transposes a square in vectors of 16 bytes. Each turn interleaves the first half of the rows with the second half;
   after as many turns as the number of a row has bits, rows are columns. */
#define POLYDL_SQUARE(name, element, side, low, high)                                                                  \
  typedef element name##_row __attribute__((vector_size(16)));                                                         \
  typedef element name##_memory __attribute__((vector_size(16), may_alias, aligned(sizeof(element))));                 \
  static inline void name(char *to, long to_row, const char *from, long from_row)                                      \
  {                                                                                                                    \
    name##_row row[side], next[side];                                                                                  \
    POLYDL_UNROLLED                                                                                                    \
    for (int i = 0; i < side; ++i)                                                                                     \
      row[i] = *(const name##_memory *)(from + i * from_row);                                                          \
    POLYDL_UNROLLED                                                                                                    \
    for (int turn = 1; turn < side; turn *= 2) {                                                                       \
      POLYDL_UNROLLED                                                                                                  \
      for (int i = 0; i < side / 2; ++i) {                                                                             \
        next[2 * i] = POLYDL_CHOSEN(name##_row, row[i], row[i + side / 2], POLYDL_PLACES low);                         \
        next[2 * i + 1] = POLYDL_CHOSEN(name##_row, row[i], row[i + side / 2], POLYDL_PLACES high);                    \
      }                                                                                                                \
      POLYDL_UNROLLED                                                                                                  \
      for (int i = 0; i < side; ++i)                                                                                   \
        row[i] = next[i];                                                                                              \
    }                                                                                                                  \
    POLYDL_UNROLLED                                                                                                    \
    for (int i = 0; i < side; ++i)                                                                                     \
      *(name##_memory *)(to + i * to_row) = row[i];                                                                    \
  }
POLYDL_SQUARE(polydl_square_1, signed char, 16, (0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
              (8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31))
POLYDL_SQUARE(polydl_square_2, short, 8, (0, 8, 1, 9, 2, 10, 3, 11), (4, 12, 5, 13, 6, 14, 7, 15))
POLYDL_SQUARE(polydl_square_4, int, 4, (0, 4, 1, 5), (2, 6, 3, 7))
POLYDL_SQUARE(polydl_square_8, long long, 2, (0, 2), (1, 3))
#else
#define polydl_square_1(to, to_row, from, from_row) (void)0
#define polydl_square_2 polydl_square_1
#define polydl_square_4 polydl_square_1
#define polydl_square_8 polydl_square_1
#endif
/* to[i][j] = from[j][i] for rows of elements of so many bytes, which lie to_row and from_row elements apart: squares of
   64 by 64 bytes one after the other, so that every line is read, and every line written, in one go. */
static inline void polydl_transpose_bytes(void *target, long to_row, const void *source, long from_row, long rows,
                                          long columns, long bytes)
{
#ifdef __GNUC__
  const long side = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 ? 16 / bytes : 1;
#else
  const long side = 1;
#endif
  char *to = (char *)target;
  const char *from = (const char *)source;
  const long block = side > 1 ? 4 * side : 16;
  to_row *= bytes;
  from_row *= bytes;
  for (long top = 0; top < rows; top += block)
    for (long left = 0; left < columns; left += block)
      for (long y = top; y < rows && y < top + block; y += side)
        for (long x = left; x < columns && x < left + block; x += side) {
          char *here = to + y * to_row + x * bytes;
          const char *there = from + x * from_row + y * bytes;
          if (side > 1 && y + side <= rows && x + side <= columns) {
            switch (bytes) {
            case 1: polydl_square_1(here, to_row, there, from_row); break;
            case 2: polydl_square_2(here, to_row, there, from_row); break;
            case 4: polydl_square_4(here, to_row, there, from_row); break;
            case 8: polydl_square_8(here, to_row, there, from_row); break;
            }
            continue;
          }
          for (long i = 0; i < side && y + i < rows; ++i)
            for (long j = 0; j < side && x + j < columns; ++j)
              memcpy(here + i * to_row + j * bytes, there + j * from_row + i * bytes, (unsigned long)bytes);
        }
}
#define polydl_transpose(to, to_row, from, from_row, rows, columns)                                                    \
  polydl_transpose_bytes(to, to_row, from, from_row, rows, columns, (long)sizeof *(to))
#endif
