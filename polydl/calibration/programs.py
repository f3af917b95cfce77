"""Which calls of a microkernel are timed, and the C that makes them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from polydl import bfloat16
from polydl.contracts import CallArguments, FormulaConstants, GemmShape, GemmSite, Microkernel
from polydl.element_types import element_dtype

# The steps k and the batch that a cell's three coefficients are fitted from.
STEPS = (64, 16)
BATCH = (6, 1)
# Full and last extents of n.
COLUMNS = ((2, 1), (4, 3), (8, 6), (16, 12), (32, 24), (64, 48))
# Those that make register blocks of all widths, whatever is chosen for larger calls.
BLOCK_COLUMNS = ((4, 3), (8, 6), (14, 12), (28, 24), (64, 48))
# Those of kernels that copy their operands first, so that their calls are long ones.
LONG_COLUMNS = (*COLUMNS[-3:], (256, 128))
ROTATED_OUTPUTS = 4
_HELD_OUT_SITES = 12
_SEED = 20211


@dataclass(frozen=True)
class TimedCall:
    """One call to time: a site of a program, which of its tiles are last ones, and how long the batch is."""

    #: its number in the program
    site: int
    #: for m, n and k: 1 where the tile is the loop's last one, and may be shorter
    last: tuple[int, int, int]
    #: the sizes that these come to
    shape: GemmShape


def rows(vector_elements: int) -> tuple[tuple[int, int], ...]:
    """Full and last extents of m: one to twelve whole vectors, and tails of one element, half a vector, all but one."""
    width, half, most = vector_elements, max(1, vector_elements // 2), vector_elements - 1
    return (
        (width, 1),
        (2 * width, half),
        (3 * width, most),
        (4 * width, width + 1),
        (5 * width, width + half),
        (6 * width, width + most),
        (7 * width, 2 * width + half),
        (8 * width, 4 * width + half),
        (12 * width, 7 * width + 1),
    )


def packed_site(
    elements: Sequence[str],
    m: tuple[int, int],
    n: tuple[int, int],
    k: tuple[int, int],
    batch: tuple[int, int],
    transposed: bool,
) -> GemmSite:
    """Operands packed as tightly as the full tile allows, one product after the other.

    ``elements`` are as in ``Microkernel.elements``.
    """
    longest = max(batch)
    stride_n, stride_k = (1, n[0]) if transposed else (k[0], 1)
    return GemmSite(
        prefix="",
        element=elements[0],
        element_b="" if elements[-2] == elements[0] else elements[-2],
        accumulator=elements[-1],
        m=m,
        n=n,
        k=k,
        batch=batch,
        lda=m[0],
        ldc=m[0],
        stride_bn=stride_n,
        stride_bk=stride_k,
        offsets_a=tuple(place * m[0] * k[0] for place in range(longest)),
        offsets_b=tuple(place * n[0] * k[0] for place in range(longest)),
    )


def grouped_site(
    elements: Sequence[str], m: tuple[int, int], n: tuple[int, int], group: int, batch: tuple[int, int]
) -> GemmSite:
    """Products of one group of steps each, with A packed in groups: all steps of a group for each row."""
    plain = packed_site(elements, m, n, (group, group), batch, transposed=False)
    products = range(max(batch))
    return replace(
        plain,
        lda=1,
        stride_am=group,
        stride_bn=group * len(products),
        offsets_a=tuple(place * group * m[0] for place in products),
        offsets_b=tuple(place * group for place in products),
    )


def row_by_row(site: GemmSite) -> GemmSite:
    """A packed site with all steps of k side by side in each row of A."""
    return replace(site, lda=1, stride_am=site.k[0])


def formula_sites(kernel: Microkernel, wanted: FormulaConstants, vector_elements: int) -> tuple[GemmSite, ...]:
    """The sites that constants of a microkernel's formula are fitted from, where no table has them."""
    copies = "copies" in kernel.abilities and wanted.group == 1
    heights = rows(vector_elements)
    extents = product((*heights[:4], heights[5]), LONG_COLUMNS if copies else BLOCK_COLUMNS)
    if wanted.group > 1:
        batch = STEPS[0] * BATCH[0] // wanted.group, STEPS[1] // wanted.group
        sites = (grouped_site(wanted.elements, m, n, wanted.group, batch) for m, n in extents)
    else:
        sites = (packed_site(wanted.elements, m, n, STEPS, BATCH, transposed=False) for m, n in extents)
    if wanted.row_by_row:
        sites = (row_by_row(site) for site in sites)
    return tuple(site for each in sites if (site := accepted(kernel, each)) is not None)


def long_sites(kernel: Microkernel, wanted: FormulaConstants, vector_elements: int) -> tuple[GemmSite, ...]:
    """Sites whose blocks read A again from beyond the first-level cache, all with full tiles."""
    extents = product((2, 3, 4, 6), (15, 24, 28, 48), ((256, 1), (256, 4)))
    sites = (
        packed_site(wanted.elements, (vectors * vector_elements,) * 2, (n, n), (k, k), (batch, batch), transposed=False)
        for vectors, n, (k, batch) in extents
    )
    return tuple(site for each in sites if (site := accepted(kernel, each)) is not None)


def grid_sites(kernel: Microkernel, element: str, vector_elements: int) -> tuple[GemmSite, ...]:
    """The sites that the table is fitted from, without what the kernel rejects."""
    columns = LONG_COLUMNS if "copies" in kernel.abilities else COLUMNS
    extents = product(rows(vector_elements), columns)
    wanted = (packed_site((element, element), m, n, STEPS, BATCH, transposed=False) for m, n in extents)
    return tuple(site for each in wanted if (site := accepted(kernel, each)) is not None)


def transposed_sites(kernel: Microkernel, element: str, vector_elements: int) -> tuple[GemmSite, ...]:
    """Sites whose B is contiguous along n."""
    extents = (((2 * vector_elements, vector_elements), (8, 6)), ((4 * vector_elements, 3 * vector_elements), (24, 12)))
    wanted = (packed_site((element, element), m, n, STEPS, BATCH, transposed=True) for m, n in extents)
    return tuple(site for each in wanted if (site := accepted(kernel, each)) is not None)


def held_out_sites(kernel: Microkernel, element: str, vector_elements: int) -> tuple[GemmSite, ...]:
    """Sites of random extents, the same on every run, with operands of at most 256 KB."""
    generator = random.Random(_SEED)
    found: list[GemmSite] = []
    for _ in range(20 * _HELD_OUT_SITES):
        whole = vector_elements * generator.randint(1, 8)
        m = (whole, generator.randint(1, whole))
        n = sorted(generator.sample(range(1, 65), 2), reverse=True)
        k = sorted(generator.sample([3, 8, 16, 24, 32, 48, 64, 96, 128, 256], 2), reverse=True)
        batch = (generator.choice([1, 1, 2, 3, 4, 8, 9, 16]), 1)
        bytes_read = (whole + n[0]) * k[0] * batch[0] * element_dtype(element).itemsize
        wanted = packed_site((element, element), m, (n[0], n[1]), (k[0], k[1]), batch, transposed=False)
        site = accepted(kernel, wanted)
        if site is not None and bytes_read <= 256 << 10:
            found.append(site)
        if len(found) == _HELD_OUT_SITES:
            break
    return tuple(found)


def accepted(kernel: Microkernel, site: GemmSite) -> GemmSite | None:
    """The site if the kernel takes all its shapes, or the part of it with full tiles alone; None if not even those."""
    full = replace(site, m=(site.m[0],) * 2, n=(site.n[0],) * 2, k=(site.k[0],) * 2)
    for candidate in (site, replace(site, m=full.m), replace(site, n=full.n), full):
        if all(kernel.rejects(shape) is None for _, shape in candidate.shapes()):
            return candidate
    return None


def timed_calls(sites: Sequence[GemmSite]) -> Iterator[TimedCall]:
    """Every call that the sites' program can make."""
    for number, site in enumerate(sites):
        for last, shape in site.shapes():
            for batch in dict.fromkeys(site.batch):
                yield TimedCall(number, last, replace(shape, batch=batch))


def elements_needed(sites: Sequence[GemmSite]) -> tuple[int, int, int]:
    """How many elements of A, B and C the program of these sites reads and writes at most."""
    a = max(max(site.offsets_a) + site.m[0] * site.k[0] for site in sites)
    b = max(max(site.offsets_b) + site.n[0] * max(site.k[0], site.stride_bn) for site in sites)
    return a, b, max(ROTATED_OUTPUTS * site.ldc * site.n[0] for site in sites)


def program(kernel: Microkernel, sites: Sequence[GemmSite], vector_bytes: int) -> str:
    """C with ``polydl_prepare()`` and ``polydl_time_calls(...)``, which returns the seconds of ``repeats`` calls.

    Successive calls update one of several output tiles in turn, so that none waits for the stores of the one before.
    """
    includes: dict[str, None] = {"stddef.h": None, "time.h": None}
    definitions: list[str] = []
    setups: list[str] = []
    cases: list[str] = []
    for number, plain in enumerate(sites):
        site = replace(plain, prefix=f"polydl_site{number}")
        emitted = kernel.emit(site, vector_bytes)
        includes.update(dict.fromkeys(emitted.includes))
        definitions.append(emitted.definitions)
        setups.append(emitted.setup)
        output = f"(output + (i & {ROTATED_OUTPUTS - 1}) * {site.ldc * site.n[0]})"
        call = kernel.call(site, CallArguments("left", "right", output, "last_m", "last_n", "last_k", "count"))
        definitions.append(
            f"""\
static void polydl_repeat{number}(const void *a, const void *b, void *c, int last_m, int last_n, int last_k,
                                  long count, long repeats)
{{
  const {site.element} *left = a;
  const {site.type_b} *right = b;
  {site.accumulator} *output = c;
  for (long i = 0; i < repeats; ++i) {{
    {call}
    __asm__ volatile("" ::: "memory");
  }}
}}"""
        )
        cases.append(f"  case {number}: polydl_repeat{number}(a, b, c, last_m, last_n, last_k, count, repeats); break;")
    if any(bfloat16.ELEMENT in (site.element, site.type_b) for site in sites):
        definitions.insert(0, f"typedef unsigned short {bfloat16.ELEMENT};")
    return "\n".join(
        [
            "#define _POSIX_C_SOURCE 199309L",
            *(f"#include <{name}>" for name in includes),
            *definitions,
            "void polydl_prepare(void)",
            "{",
            *setups,
            "}",
            "double polydl_time_calls(int site, int last_m, int last_n, int last_k, long count, long repeats,",
            "                         const void *a, const void *b, void *c)",
            "{",
            "  struct timespec start, end;",
            "  clock_gettime(CLOCK_MONOTONIC, &start);",
            "  switch (site) {",
            *cases,
            "  }",
            "  clock_gettime(CLOCK_MONOTONIC, &end);",
            "  return (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);",
            "}",
            "",
        ]
    )
