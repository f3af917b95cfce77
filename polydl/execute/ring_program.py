"""The program of the check over a ring: it draws data, calls the original nest and each kernel, and compares."""

from __future__ import annotations

from collections.abc import Sequence

from polydl.execute.arrays import Integers, are_small
from polydl.execute.ranges import drawn_integers
from polydl.execute.rings import FIELD, MODULUS, Ring
from polydl.ir.scop import Array, Scop

#: Before each line of the program, since the source's function may print, too.
SAYS = "polydl: "
#: Elements that are of the ring where generated code computes over one.
FLOATS = frozenset({"float", "double", "bfloat16"})


def carried_arrays(scop: Scop) -> list[Array]:
    """Those of the parameters, then global ones, as a harness numbers them."""
    carried = [scop.array(parameter.array) for parameter in scop.function.parameters]
    return [*carried, *(array for array in scop.arrays if array.storage == "global")]


def exported(endings: Sequence[str], *, prepares: bool) -> str:
    """Declarations of what the program calls, of kernels whose harnesses have names with these ``endings``."""
    lines = ["#ifdef __cplusplus", 'extern "C" {', "#endif"]
    for ending in endings:
        lines += [f"void polydl_invoke{ending}(void *const *);", f"void *polydl_global{ending}(int);"]
        lines += [f"long polydl_prepare{ending}(void *const *, void **);"] * prepares
    return "\n".join([*lines, "#ifdef __cplusplus", "}", "#endif"])


def driver(scop: Scop, ring: Ring, seed: int, endings: Sequence[str], *, prepares: bool) -> str:
    """C of the program, whose arguments are the numbers of the kernels to compare, by their place in ``endings``.

    Its lines: ``original`` and ``kernel NUMBER`` before a call, ``differs NUMBER ARRAY INDEX VALUE EXPECTED COUNT``
    after one, and ``end``.
    """
    arrays = carried_arrays(scop)
    parameters = scop.function.parameters
    rows, integers = [], drawn_integers(scop)
    for number, array in enumerate(arrays):
        value = parameters[number].value if number < len(parameters) else None
        kind = "FIXED" if value is not None else _kind(array, ring, integers)
        constant = int(prepares and array.name in scop.constants)
        rows.append(f"  {{{array.elements}, {array.element_bytes}, {kind}, {value or 0}L, {constant}}},")
    head = f"enum {{ ARRAYS = {len(arrays)}, PARAMETERS = {len(parameters)} }};\n#define SEED {seed}ul\n"
    head += f"enum {{ KERNELS = {len(endings)} }};\n#define PREPARES {int(prepares)}\n"
    head += f"{exported(endings, prepares=prepares)}\n"
    functions = ("polydl_invoke", "polydl_global", *["polydl_prepare"] * prepares)
    kernels = (f"  {{{', '.join(f'{function}{ending}' for function in functions)}}}," for ending in endings)
    text = _DRIVER.replace("/* rows */", "\n".join(rows)).replace("/* kernels */", "\n".join(kernels))
    return head + text.replace("MODULUS", f"{MODULUS}ul").replace("SAYS", f"\\n{SAYS}")


def _kind(array: Array, ring: Ring, integers: Integers) -> str:
    """How its elements are drawn."""
    if array.element in FLOATS:
        return "RESIDUE" if ring == FIELD and array.element != "bfloat16" else "BITS"
    return "TRUTH" if array.element == "_Bool" else "SMALL" if are_small(integers, array.element_bytes) else "BITS"


_DRIVER = """\
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
void polydl_original_polydl_invoke(void *const *);
void *polydl_original_polydl_global(int);
enum { BITS, RESIDUE, SMALL, TRUTH, FIXED };
static const struct { long elements; int bytes; int kind; long value; int constant; } shapes[ARRAYS] = {
/* rows */
};
static const struct {
  void (*invoke)(void *const *);
  void *(*global)(int);
#if PREPARES
  long (*prepare)(void *const *, void **);
#endif
} kernels[KERNELS] = {
/* kernels */
};
static char *places[ARRAYS], *expected[ARRAYS];

/* Memory between two pages that can't be touched, and that begins after the first or ends before the second. */
static char *guarded(size_t bytes, int at_end)
{
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
  char *memory = mmap(0, whole + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory + page, whole, PROT_READ | PROT_WRITE))
    exit(3);
  return memory + page + (at_end ? whole - bytes : 0);
}
static uint64_t mixed(uint64_t x)
{
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ul;
  x = (x ^ x >> 27) * 0x94d049bb133111ebul;
  return x ^ x >> 31;
}
static void fill(int turn)
{
  for (int a = 0; a < ARRAYS; ++a) {
    /* Constants hold the same in two turns, of which the second uses what the first has prepared. */
    uint64_t state = mixed(SEED + 1000 * (shapes[a].constant ? turn / 2 * 2 : turn) + a);
    for (long i = 0; i < shapes[a].elements; ++i) {
      const uint64_t drawn = mixed(state += 0x9e3779b97f4a7c15ul);
      uint64_t value = drawn;
      switch (shapes[a].kind) {
      case RESIDUE: value = drawn % MODULUS; break;
      case SMALL: value = 1 + drawn % 8; break;
      case TRUTH: value = drawn & 1; break;
      case FIXED: value = (uint64_t)shapes[a].value; break;
      }
      memcpy(places[a] + i * shapes[a].bytes, &value, shapes[a].bytes);
    }
  }
}
static long element(const char *from, int a, long i)
{
  uint64_t value = 0;
  memcpy(&value, from + i * shapes[a].bytes, shapes[a].bytes);
  return (long)value;
}
/* Whether a kernel has left what is expected in all arrays; what is not is told. */
static int agrees(int kernel)
{
  for (int a = 0; a < ARRAYS; ++a) {
    long count = 0, at = -1;
    for (long i = 0; i < shapes[a].elements; ++i)
      if (memcmp(places[a] + i * shapes[a].bytes, expected[a] + i * shapes[a].bytes, shapes[a].bytes)) {
        ++count;
        if (at < 0)
          at = i;
      }
    if (count) {
      const long value = element(places[a], a, at), right = element(expected[a], a, at);
      printf("SAYSdiffers %d %d %ld %ld %ld %ld\\n", kernel, a, at, value, right, count);
      return 0;
    }
  }
  return 1;
}
int main(int count, char **numbers)
{
  static int differs[KERNELS];
  for (int a = 0; a < ARRAYS; ++a)
    if (!(expected[a] = malloc((size_t)(shapes[a].elements * shapes[a].bytes))))
      return 3;
  for (int turn = 0; turn < (PREPARES ? 4 : 2); ++turn) {
    for (int a = 0; a < ARRAYS; ++a)
      places[a] = a < PARAMETERS ? guarded((size_t)(shapes[a].elements * shapes[a].bytes), turn % 2 == 0)
                                 : polydl_original_polydl_global(a - PARAMETERS);
    fill(turn);
    printf("SAYSoriginal\\n");
    fflush(stdout);
    polydl_original_polydl_invoke((void *const *)places);
    for (int a = 0; a < ARRAYS; ++a)
      memcpy(expected[a], places[a], (size_t)(shapes[a].elements * shapes[a].bytes));
    for (int i = 1; i < count; ++i) {
      const int k = atoi(numbers[i]);
      if (differs[k])
        continue;
      for (int a = PARAMETERS; a < ARRAYS; ++a)
        places[a] = kernels[k].global(a - PARAMETERS);
      fill(turn);
      printf("SAYSkernel %d\\n", k);
      fflush(stdout);
#if PREPARES
      void *prepared;
      if (turn % 2 == 0 && kernels[k].prepare((void *const *)places, &prepared) < 0)
        return 3;
#endif
      kernels[k].invoke((void *const *)places);
      differs[k] = !agrees(k);
    }
  }
  printf("SAYSend\\n");
  fflush(stdout);
  return 0;
}
"""
