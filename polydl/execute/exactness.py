"""The check without tolerance: a kernel and the original nest, computed over a ring, agree bit for bit.

Sums and products of a ring may be reordered and regrouped at will without changing the result, so that a term that is
lost, or counted twice, shows however small it is. One program has both functions. It runs them on full-range random
elements twice, with other data each time, on arrays that begin or end at a page that must not be touched. Machine code
takes no part: what is compiled is the C that does without it.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from polydl import vector_functions
from polydl.bfloat16 import CONVERSIONS, with_header
from polydl.codegen import team
from polydl.codegen.original import defines, original
from polydl.element_types import element_dtype
from polydl.execute.arrays import Integers, are_small
from polydl.execute.build import COMPILE_TIMEOUT_SECONDS
from polydl.execute.own_headers import own_headers, system_headers, write_copies
from polydl.execute.ranges import drawn_integers
from polydl.execute.rings import FIELD, INTEGERS, MODULUS, Ring, has_fractions, over, rewritten_for
from polydl.execute.toolchain import Toolchain
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Exactness
from polydl.ir.scop import Array, Scop
from polydl.system.process_group import run_in_group
from polydl.system.sandbox import confined, environment, exit_status_of, inside, is_sandboxed

# No vector instructions but those that every processor has, so that the C for other processors is taken.
_FLAGS = ("-fwrapv", "-w")
# C that is compiled as C++, without C++'s library.
_FIELD_FLAGS = (
    "-std=gnu++17", "-nostdinc++", "-fpermissive", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics",
    "-fno-strict-aliasing",
)  # fmt: skip
# The program begins in the driver, whatever functions the source has.
_NO_MAIN = "#define main polydl_main_of_source"
# Before each line of the driver, since the source's function may print, too.
_SAYS = "polydl: "
_ELEMENTS = frozenset({"float", "double", "bfloat16"})
# Seconds, measured on one core of an AMD EPYC: of the compilers of C and of C++ without text, of a character of a
# kernel's text, of an instance of a statement, and of an element that is drawn or compared.
_COMPILER_SECONDS, _FIELD_COMPILER_SECONDS, _CHARACTER, _FIELD_CHARACTER = 0.13, 0.2, 1.1e-5, 5e-6
_INSTANCE, _FIELD_INSTANCE, _FIELD_VECTOR_INSTANCE, _ELEMENT = 7e-9, 3.6e-8, 3.2e-9, 17e-9
# From so many instances on, a kernel is compiled with optimizations; one with vectors of the field takes longer.
_MANY_INSTANCES, _MANY_VECTOR_INSTANCES = 10_000_000, 60_000_000
_MOST_BYTES = 2 << 30


def compare_exactly(
    scop: Scop,
    kernel: KernelSource,
    toolchain: Toolchain,
    directory: Path,
    *,
    seed: int = 0,
    timeout_seconds: float = 30.0,
) -> Exactness:
    """Compare a kernel with the original nest of ``scop`` over a ring, in a program that is built in ``directory``.

    ``ring_of`` chooses the ring. Not applicable are elements that are no ``float``, ``double``, ``bfloat16`` or
    integer, sources that are no C++ where the field needs it, and programs that take too long.
    """
    start = time.monotonic()
    plain = original(scop)
    odd = next((array for array in _arrays(scop) if not _fits(array)), None)
    if odd is not None:
        return Exactness("not applicable", "", f"elements of {odd.name} are of type {odd.element}")
    if 2 * sum(array.bytes for array in _arrays(scop)) > _MOST_BYTES:
        return Exactness("not applicable", "", "the arrays are too large")
    ring = ring_of(scop, kernel)
    directory = directory.absolute()
    directory.mkdir(parents=True, exist_ok=True)
    suffix = ".c" if ring == INTEGERS else ".cc"
    called = vector_functions.leaves(scop, vector_functions.called(scop.statements))
    functions = called - CONVERSIONS if vector_functions.includes_math(scop) else ()
    given = [f"{_NO_MAIN}\n{text}" for text in (_renamed(scop, plain), f"{kernel.c}\n{kernel.harness}")]
    of_user = [with_header(scop.source)]
    headers = own_headers(of_user, kernel.compile_flags)
    includes = system_headers([*of_user, *headers.values()], headers)
    texts = over(ring, given, functions, includes, kernel.ingredients)
    copies = write_copies(headers, partial(rewritten_for, ring), directory / "headers")
    sources = [directory / f"{name}{suffix}" for name in ("original", "kernel")]
    for source, text in zip(sources, texts, strict=True):
        source.write_text(text, encoding="utf-8")
    driver, program = directory / "driver.c", directory / "program"
    driver.write_text(_driver(scop, ring, seed, prepares=kernel.interface.prepared is not None), encoding="utf-8")
    folders = (copies, *(flag for flag in kernel.compile_flags if flag.startswith("-I")))
    effort = _effort(scop, vectors=ring == FIELD and bool(kernel.ingredients.vector_types))
    try:
        error = _built(_commands(toolchain, ring, effort, folders, sources, driver, program), directory)
        if error is not None:
            return Exactness("not applicable", "", f"it can't be compiled over the ring: {error}")
        array_bytes = 2 * sum(array.bytes for array in _arrays(scop))
        running = confined([str(program)], directory, array_bytes)
        ran = run_in_group(running, directory, timeout_seconds=timeout_seconds, environment=environment(os.environ))
    except subprocess.TimeoutExpired:
        return Exactness("not applicable", "", "it takes too long")
    seconds = time.monotonic() - start
    status = exit_status_of(ran.returncode) if is_sandboxed() else ran.returncode
    *_, last = re.findall(rf"^{_SAYS}(.*)$", ran.stdout, re.MULTILINE) or ["original"]
    if last == "agrees" and status == 0:
        return Exactness("agrees", ring, "", seconds)
    if last == "original":
        return Exactness("not applicable", "", f"the original nest ends its program with status {status}")
    if last == "kernel":
        ended = f"it ends its program with status {status}, as where it leaves an array"
        return Exactness("differs", ring, ended, seconds)
    words = last.split()
    if status != 1 or len(words) != 5:
        return Exactness("not applicable", "", f"its program ends with status {status} behind the line {last!r}")
    return Exactness("differs", ring, _difference(scop, words), seconds)


def estimated_seconds(scop: Scop, kernel: KernelSource) -> float:
    """About how long the check takes on one core: the compiler, then both functions twice."""
    in_field = ring_of(scop, kernel) == FIELD
    # What chooses how many threads a call takes is left out where there is no OpenMP.
    characters = len(kernel.c) - (len(team.support()) if kernel.ingredients.chooses_threads else 0)
    compiler, character, instance = _COMPILER_SECONDS, _CHARACTER, _INSTANCE
    if in_field:
        vectors = bool(kernel.ingredients.vector_types)
        compiler, character = _FIELD_COMPILER_SECONDS, _FIELD_CHARACTER
        instance = _FIELD_VECTOR_INSTANCE if vectors else _FIELD_INSTANCE
    elements = sum(array.elements for array in _arrays(scop))
    return compiler + characters * character + 4 * (_instances(scop) * instance + elements * _ELEMENT)


def ring_of(scop: Scop, kernel: KernelSource) -> Ring:
    """The field where something real is divided, a literal is a fraction or ``float`` meets ``double``, else integers.

    A float is an integer modulo 2^32 and a double one modulo 2^64, so that a product of floats is another one when they
    are converted first. In the field both are the same numbers.
    """
    elements = {array.element for array in scop.arrays}
    if {"float", "double"} <= elements:
        return FIELD
    nodes = [node for each in scop.statements for node in each.body.walk()]
    divides = any(node.text.removesuffix("=") == "/" for node in nodes)
    # Some come from macros, of headers as well.
    literals = " ".join(node.text for node in nodes if node.kind == "literal")
    fractions = any(map(has_fractions, (scop.source, defines(scop), literals)))
    fractions = fractions or any(factor.denominator != 1 for factor in kernel.ingredients.factors)
    return FIELD if not elements.isdisjoint(_ELEMENTS) and (divides or fractions) else INTEGERS


def _arrays(scop: Scop) -> list[Array]:
    """Those of the parameters, then global ones, as a harness numbers them."""
    carried = [scop.array(parameter.array) for parameter in scop.function.parameters]
    return [*carried, *(array for array in scop.arrays if array.storage == "global")]


def _fits(array: Array) -> bool:
    return array.element in _ELEMENTS or element_dtype(array.element).kind in "iub"


def _renamed(scop: Scop, plain: KernelSource) -> str:
    """The original under other names, since the kernel's function and variables have its names in the same program."""
    variables = (array.name for array in scop.arrays if array.storage == "global")
    names = (scop.function.name, *variables, "polydl_invoke", "polydl_global")
    hidden = [f"#define {name} polydl_original_{name}" for name in names]
    return "\n".join([*hidden, plain.c, plain.harness])


def _instances(scop: Scop) -> int:
    return sum(statement.instances for statement in scop.statements)


def _effort(scop: Scop, *, vectors: bool) -> str:
    """How far a kernel is optimized: where little is computed, the compiler takes most of the time."""
    if vectors:
        return "-O0" if _instances(scop) < _MANY_VECTOR_INSTANCES else "-Og"
    return "-O0" if _instances(scop) < _MANY_INSTANCES else "-O1"


def _built(commands: Sequence[Sequence[str]], directory: Path) -> str | None:
    """Run the compilers, all but the last at the same time; the first error of one that fails, or None.

    It comes without its place, which is in a file that is gone when it is read.
    """

    def compiled(command: Sequence[str]) -> str | None:
        compiler = inside(command, directory) if is_sandboxed() else command
        built = run_in_group(compiler, directory, timeout_seconds=COMPILE_TIMEOUT_SECONDS)
        errors = [line for line in built.stderr.splitlines() if "error" in line] or built.stderr.splitlines()
        if built.returncode == 0:
            return None
        first = errors[0] if errors else ""
        return first.partition("error: ")[2] or first

    *objects, last = commands
    with ThreadPoolExecutor(len(objects)) as pool:
        failed = [error for error in pool.map(compiled, objects) if error is not None]
    return failed[0] if failed else compiled(last)


def _commands(
    toolchain: Toolchain,
    ring: Ring,
    effort: str,
    folders: Iterable[str],
    sources: Sequence[Path],
    driver: Path,
    program: Path,
) -> list[list[str]]:
    """Those that compile the original, and the kernel with ``effort``, and the one that makes the program of them."""
    language = ("-std=gnu11", "-fcommon") if ring == INTEGERS else _FIELD_FLAGS
    kind = "c" if ring == INTEGERS else "c++"
    objects = [source.with_suffix(".o") for source in sources]
    flags = (*_FLAGS, *toolchain.plain_addresses, *language)
    # The original is short.
    commands = [
        [str(toolchain.path), each, *flags, *folders, "-x", kind, "-c", str(source), "-o", str(object_)]
        for source, object_, each in zip(sources, objects, ("-O2", effort), strict=True)
    ]
    # Global arrays and functions of the source are in both files, and mean the same.
    link = ["-o", str(program), "-Wl,--allow-multiple-definition", *toolchain.openmp_flags, "-lm"]
    return [*commands, [str(toolchain.path), "-O1", *map(str, objects), "-x", "c", str(driver), *link]]


def _difference(scop: Scop, words: list[str]) -> str:
    """In words, from what the driver printed: the array's number, the index, both values, the count."""
    number, at, kernel, expected, count = (int(word) for word in words)
    array = _arrays(scop)[number]
    subscripts = np.unravel_index(at, array.extents) if array.extents else ()
    element = array.name + "".join(f"[{int(subscript)}]" for subscript in subscripts)
    return (
        f"`{element}` is {kernel}, and the original nest gives {expected}; {count} of {array.elements} elements differ"
    )


def _driver(scop: Scop, ring: Ring, seed: int, *, prepares: bool) -> str:
    arrays = _arrays(scop)
    parameters = scop.function.parameters
    rows, integers = [], drawn_integers(scop)
    for number, array in enumerate(arrays):
        value = parameters[number].value if number < len(parameters) else None
        kind = "FIXED" if value is not None else _kind(array, ring, integers)
        constant = int(prepares and array.name in scop.constants)
        rows.append(f"  {{{array.elements}, {array.element_bytes}, {kind}, {value or 0}L, {constant}}},")
    head = f"enum {{ ARRAYS = {len(arrays)}, PARAMETERS = {len(parameters)} }};\n#define SEED {seed}ul\n"
    head += f"#define PREPARES {int(prepares)}\n"
    text = _DRIVER.replace("/* rows */", "\n".join(rows)).replace("MODULUS", f"{MODULUS}ul")
    return head + text.replace("SAYS", f"\\n{_SAYS}")


def _kind(array: Array, ring: Ring, integers: Integers) -> str:
    """How its elements are drawn."""
    if array.element in _ELEMENTS:
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
void polydl_invoke(void *const *);
void *polydl_global(int);
#if PREPARES
long polydl_prepare(void *const *, void **);
#endif
void polydl_original_polydl_invoke(void *const *);
void *polydl_original_polydl_global(int);
enum { BITS, RESIDUE, SMALL, TRUTH, FIXED };
static const struct { long elements; int bytes; int kind; long value; int constant; } shapes[ARRAYS] = {
/* rows */
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
static void say(const char *what)
{
  printf("SAYS%s\\n", what);
  fflush(stdout);
}
static long element(const char *from, int a, long i)
{
  uint64_t value = 0;
  memcpy(&value, from + i * shapes[a].bytes, shapes[a].bytes);
  return (long)value;
}
int main(void)
{
  for (int turn = 0; turn < (PREPARES ? 4 : 2); ++turn) {
    for (int a = 0; a < ARRAYS; ++a) {
      const size_t bytes = (size_t)(shapes[a].elements * shapes[a].bytes);
      places[a] = a < PARAMETERS ? guarded(bytes, turn % 2 == 0) : polydl_original_polydl_global(a - PARAMETERS);
      expected[a] = malloc(bytes);
      if (!places[a] || !expected[a])
        return 3;
    }
    fill(turn);
    say("original");
    polydl_original_polydl_invoke((void *const *)places);
    for (int a = 0; a < ARRAYS; ++a) {
      memcpy(expected[a], places[a], (size_t)(shapes[a].elements * shapes[a].bytes));
      if (a >= PARAMETERS)
        places[a] = polydl_global(a - PARAMETERS);
    }
    fill(turn);
    say("kernel");
#if PREPARES
    void *prepared;
    if (turn % 2 == 0 && polydl_prepare((void *const *)places, &prepared) < 0)
      return 3;
#endif
    polydl_invoke((void *const *)places);
    for (int a = 0; a < ARRAYS; ++a) {
      long count = 0, at = -1;
      for (long i = 0; i < shapes[a].elements; ++i)
        if (memcmp(places[a] + i * shapes[a].bytes, expected[a] + i * shapes[a].bytes, shapes[a].bytes)) {
          ++count;
          if (at < 0)
            at = i;
        }
      if (count) {
        printf("SAYS%d %ld %ld %ld %ld\\n", a, at, element(places[a], a, at), element(expected[a], a, at), count);
        return 1;
      }
    }
  }
  say("agrees");
  return 0;
}
"""
