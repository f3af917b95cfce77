"""The C of register blocks: parts of an output tile that stay in registers while k and the batch run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from polydl.bfloat16 import ELEMENT as BFLOAT16
from polydl.contracts import GemmSite
from polydl.microkernels.next_tile import COPY, UNROLL, copying_loops, fetched_output

# By the type of the operands: bytes of each accumulator in a vector.
VECTOR_BYTES = {"float": 4, "double": 8, BFLOAT16: 4}
# The parameter that says whether C is to be written without being read.
FIRST = ", int first"
# The one for the address from which to fetch.
AHEAD = ", const char *ahead"
# Whether the call is the last for its tile of C, and what to tell the function that is called then.
AFTER = ", int last, const struct {prefix}_operands *operands"
# Where a block begins in its call's tile.
PLACE = ", long column, long row"
# Of products with fewer steps of k, A is fetched by whole products ahead.
_FEW_STEPS = 8
# Floats in the widest vector.
_WIDEST = 16
# Vectors of a column and columns: of blocks that are taller and no wider, gcc reads A again and again.
_TALL, _NARROW = 4, 4


@dataclass(frozen=True)
class OutputBlock:
    """A register block: the part of an output tile that stays in registers while k and the batch run.

    It has vectors of rows by columns. Rows that two vectors or halves contain are computed twice, with equal results:
    all of C is read before any of it is written.
    """

    #: elements of a vector
    width: int
    #: first row of each vector, relative to the first one's; the last vector may overlap the one before
    rows: tuple[int, ...]
    #: rows from the first half of a vector to its second half; 0 for whole vectors
    second: int
    #: offset of each column in B, relative to the first one's, in elements
    columns_b: tuple[int, ...]
    #: offset of each column in C, relative to the first one's, in elements
    columns_c: tuple[int, ...]
    #: bytes that one instruction prefetches
    line_bytes: int
    #: cache lines of later calls' A to prefetch, after each ``every`` steps of k
    lines: int = 0
    #: steps of k from one prefetch of such lines to the next
    every: int = 1
    #: elements from the block's columns of B to those to prefetch; 0 for none
    next_b: int = 0
    #: rows of the next tile's columns, one of which is copied after each ``between`` steps of k; 0 for no copy
    copied: int = 0
    #: steps of k from one copy to the next
    between: int = 0
    #: columns by which a copied one is prefetched
    ahead: int = 0


def table(name: str, values: Sequence[int]) -> str:
    """C of a constant array of ``long`` at file scope."""
    return f"static const long {name}[{len(values)}] = {{{', '.join(map(str, values))}}};"


def offset_tables(site: GemmSite) -> list[str]:
    """C of where the products of a batch lie in A and B, and the rows of columns in B and C."""
    return [
        table(f"{site.prefix}_{name}", values)
        for name, values in (
            ("offsets_a", site.offsets_a),
            ("offsets_b", site.offsets_b),
            ("rows_b", site.rows_b),
            ("rows_c", site.rows_c),
        )
    ]


def which_tiles(site: GemmSite, index: tuple[int, int, int]) -> str:
    """The C condition for a call on the full (0) or last (1) tiles of m, n and k, as ``index`` selects."""
    tests = [
        f"{'' if last else '!'}last_{role}"
        for role, last, ends in zip("mnk", index, (site.m, site.n, site.k), strict=True)
        if ends[0] != ends[1]
    ]
    return " && ".join(tests) or "1"


def vectors_of(width: int, rows: int) -> tuple[int, ...]:
    """The first row of each vector that covers ``rows`` rows, at least one vector. The last one ends with the rows."""
    return tuple(min(first, rows - width) for first in range(0, rows, width))


def halves(prefix: str, width: int, second: int) -> str:
    """Functions that read and write a vector whose second half begins ``second`` rows after the first."""
    whole, half = f"{prefix}_vector{width}", f"{prefix}_vector{width // 2}"
    lanes = [", ".join(map(str, range(first, first + width // 2))) for first in (0, width // 2)]
    return "\n".join(
        [
            f"static inline {whole} {prefix}_read{width}_{second}(const void *from)",
            "{",
            f"  const {half} *low = from;",
            f"  const {half} *high = (const void *)((const char *)from + {second} * sizeof((*low)[0]));",
            f"  return __builtin_shufflevector(*low, *high, {lanes[0]}, {lanes[1]});",
            "}",
            f"static inline void {prefix}_write{width}_{second}(void *to, {whole} value)",
            "{",
            f"  {half} *low = to;",
            f"  {half} *high = (void *)((char *)to + {second} * sizeof((*low)[0]));",
            f"  *low = __builtin_shufflevector(value, value, {lanes[0]});",
            f"  *high = __builtin_shufflevector(value, value, {lanes[1]});",
            "}",
        ]
    )


def widening(prefix: str, width: int) -> str:
    """A function that reads bfloat16s as a vector of floats."""
    vector, bits = f"{prefix}_vector{width}", f"{prefix}_bits{width}"
    lines = [f"  const {bits} wide = __builtin_convertvector(*(const narrow *)from, {bits});"]
    if width == _WIDEST:
        # gcc 12 makes four instructions of it.
        read = f'  {bits} wide;\n  __asm__("vpmovzxwd %1, %0" : "=v"(wide) : "m"(*(const narrow *)from));'
        lines = ["#ifdef __AVX512F__", read, "#else", *lines, "#endif"]
    return "\n".join(
        [
            f"typedef unsigned int {bits} __attribute__((vector_size({4 * width})));",
            f"static inline {vector} {prefix}_widened{width}(const bfloat16 *from)",
            "{",
            f"  typedef bfloat16 narrow __attribute__((vector_size({2 * width}), aligned(2), may_alias));",
            *lines,
            f"  return ({vector})(wide << 16);",
            "}",
        ]
    )


def _widened(site: GemmSite, block: OutputBlock, place: str) -> str:
    """The C expression that reads bfloat16 elements at an address as a vector of floats."""
    name = f"{site.prefix}_widened{block.width // 2 if block.second else block.width}"
    if not block.second:
        return f"{name}({place})"
    lanes = ", ".join(map(str, range(block.width)))
    return f"__builtin_shufflevector({name}({place}), {name}({place} + {block.second}), {lanes})"


def widened(value: str) -> str:
    """The C expression that converts a bfloat16 to float."""
    return f"((union {{ unsigned int bits; float value; }}){{(unsigned int)({value}) << 16}}).value"


def block_function(
    name: str,
    site: GemmSite,
    block: OutputBlock,
    product: Sequence[str],
    read: Callable[[str], str],
    written: Callable[[str, str], str],
    together: int = 1,
) -> str:
    """A function that reads a block of C, adds the products of a batch, and writes it back.

    ``product`` is the C of ``together`` of them, from ``ar`` and ``br`` into ``c<vector>_<column>``. ``read`` and
    ``written`` make C that reads the vector at an address, and writes one there.
    """
    vector = f"{site.prefix}_vector{block.width}"
    cells = [
        (f"c{v}_{u}", f"c + {row + column}")
        for u, column in enumerate(block.columns_c)
        for v, row in enumerate(block.rows)
    ]
    start = f"first ? ({vector}){{0}} : " if site.overwrites else ""
    more = more_parameters(site)
    if site.after:
        more += PLACE
    return "\n".join(
        [
            f"static inline void {name}(const {site.element} *a, const {site.type_b} *b, {site.accumulator} *c, "
            f"long k, long count{more})",
            "{",
            *(f"  {vector} {cell} = {start}{read(place)};" for cell, place in cells),
            f"  for (long r = 0; r < count; {'++r' if together == 1 else f'r += {together}'}) {{",
            f"    const {site.element} *ar = a + {site.prefix}_offsets_a[r];",
            f"    const {site.type_b} *br = b + {site.prefix}_offsets_b[r];",
            *product,
            "  }",
            *(_finished(site, block) if finishes(site, block.second) else []),
            *(f"  {written(place, cell)}" for cell, place in cells),
            "}",
        ]
    )


def finishes(site: GemmSite, second: int) -> bool:
    """Whether blocks apply the epilogue to C in their registers; ``second`` as in ``OutputBlock``."""
    return site.after and not site.after_calls and not second


def _finished(site: GemmSite, block: OutputBlock) -> list[str]:
    """The C of the epilogue on a block, which the last call for a tile runs in place of storing C.

    The compiler keeps in registers what seems to go through memory here. Vectors of narrow elements take several of
    sums.
    """
    lines = ["  if (last) {"]
    together = _rows_together(site, block)
    for u in range(len(block.columns_c)):
        for first in range(0, len(block.rows), together):
            vectors = range(first, min(first + together, len(block.rows)))
            count = block.width * len(vectors)
            lines.append(f"    {{ {site.accumulator} sums[{count}] __attribute__((aligned(64)));")
            for place, v in enumerate(vectors):
                to = f"(sums + {block.width * place})" if place else "sums"
                lines.append(f"      *({site.prefix}_vector{block.width} *){to} = c{v}_{u};")
            at = f"column + {u}, row + {block.rows[first]}, {count}"
            lines.append(f"      {site.prefix}_after_column(operands, sums, {at}); }}")
    return [*lines, "    return;", "  }"]


def _rows_together(site: GemmSite, block: OutputBlock) -> int:
    """How many vectors of a column the epilogue takes at a time: what fills one with the narrowest elements."""
    follow = all(row == block.width * place for place, row in enumerate(block.rows))
    return max(1, VECTOR_BYTES.get(site.accumulator, 4) // site.after_bytes) if follow else 1


def vector_block(name: str, site: GemmSite, block: OutputBlock) -> str:
    """A function that updates one block of C, all of it in registers while k and the batch run."""
    element, vector = site.element, f"{site.prefix}_vector{block.width}"

    def read(place: str) -> str:
        halves = f"{site.prefix}_read{block.width}_{block.second}({place})"
        return halves if block.second else f"*(const {vector} *)({place})"

    def read_a(place: str) -> str:
        if element == BFLOAT16:
            return _widened(site, block, place)
        return read(place)

    def written(place: str, value: str) -> str:
        halves = f"{site.prefix}_write{block.width}_{block.second}({place}, {value});"
        return halves if block.second else f"*({vector} *)({place}) = {value};"

    later = products_ahead(site)
    lines = [f"    const {element} *an = a + {site.prefix}_offsets_a[r + {later}];"] if later else []
    steps = _steps(site, block, read_a)
    if block.copied:
        starts = vectors_of(block.width, block.copied) if block.copied >= block.width else ()
        lines += copying_loops(
            steps,
            _next_output(site, block),
            line=block.line_bytes // VECTOR_BYTES[element],
            ahead=block.ahead,
            vector=vector,
            starts=starts,
            rows=block.copied,
            lda=site.copied_lda,
            between=block.between,
        )
    else:
        lines += [f'    _Pragma("GCC unroll {UNROLL}")', "    for (long l = 0; l < k; ++l) {", *steps, "    }"]
    return block_function(name, site, block, lines, read, written)


def _next_output(site: GemmSite, block: OutputBlock) -> list[str]:
    """The C that prefetches the columns of C after the block's own, if these are evenly spaced."""
    columns, line = len(block.columns_c), block.line_bytes // VECTOR_BYTES[site.element]
    if block.columns_c != tuple(number * site.ldc for number in range(columns)):
        return []
    lines = -(-len(block.rows) * block.width // line)
    return fetched_output(columns, lines, block.between, site.k[0], line=line, ldc=site.ldc)


def more_parameters(site: GemmSite) -> str:
    """The C of parameters that only some sites have."""
    copy = COPY.format(element=site.element) if site.copied else ""
    after = AFTER.format(prefix=site.prefix) if site.after else ""
    return f"{FIRST if site.overwrites else ''}{AHEAD if site.ahead else ''}{copy}{after}"


def _steps(site: GemmSite, block: OutputBlock, read: Callable[[str], str]) -> list[str]:
    """The C of one step of k, ``l``: its loads, prefetches and multiply-adds."""
    element, vector = site.element, f"{site.prefix}_vector{block.width}"
    columns, vectors = range(len(block.columns_b)), range(len(block.rows))
    later = products_ahead(site)
    kept = _keeps_a(site, block)
    lines = []
    fetched = _rows_of_lines(site, block) if site.ahead_steps else ()
    for v in vectors:
        if block.rows[v] in fetched:
            # A is read once in each block, often from beyond the first cache; B stays there.
            place = f"an + l * {site.lda}" if later else f"ar + (l + {site.ahead_steps}) * {site.lda}"
            lines.append(f"      __builtin_prefetch({place} + {block.rows[v]});")
        kind = vector if kept else f"const {vector}"
        lines.append(f"      {kind} a{v} = {read(f'ar + l * {site.lda} + {block.rows[v]}')};")
    if kept:
        operands = ", ".join(f'"+v"(a{v})' for v in vectors)
        lines += ["#ifdef __AVX512F__", f'      __asm__("" : {operands});', "#endif"]
    if block.next_b:
        lines += _fetched(site, block)
    lines.append(f"      const {element} *bl = br + l * {site.stride_bk};")
    if _columns_meet(site, block):
        # Or the compiler keeps elements for the step that reads them again, and vectors of C leave their registers.
        lines.append('      __asm__("" : "+r"(bl));')
    for u in columns:
        updates = " ".join(f"c{v}_{u} += a{v} * b{u};" for v in vectors)
        kind, value = element, f"bl[{block.columns_b[u]}]"
        if element == BFLOAT16:
            # Spread as an integer, which takes one instruction less.
            kind, value = vector, f"({vector})(({site.prefix}_bits{block.width}){{0}} + ((unsigned int){value} << 16))"
        lines.append(f"      const {kind} b{u} = {value}; {updates}")
    return [*lines, *fetched_ahead(site, block, "l")]


def fetched_ahead(site: GemmSite, block: OutputBlock, step: str) -> list[str]:
    """The C that prefetches later calls' A in a step of a block, from C of the step's number."""
    if not block.lines:
        return ["      (void)ahead;"] if site.ahead else []
    # Not all at once: the last-level cache delivers slowly, and everybody else waits behind it.
    return [
        f"      if ({step} % {block.every} == 0) {{",
        *(f"        __builtin_prefetch(ahead + {line * block.line_bytes}, 0, 2);" for line in range(block.lines)),
        f"        ahead += {block.lines * block.line_bytes};",
        "      }",
    ]


def _rows_of_lines(site: GemmSite, block: OutputBlock) -> tuple[int, ...]:
    """First rows of the vectors whose place in A is prefetched: of several in one cache line, the first."""
    line = block.line_bytes // VECTOR_BYTES[site.element]
    if block.width >= line:
        return block.rows
    rows: list[int] = []
    for row in block.rows:
        if not rows or row - rows[-1] >= line:
            rows.append(row)
    return tuple(rows)


def products_ahead(site: GemmSite) -> int:
    """The number of products by which A is prefetched, where a product has too few steps for prefetching within it."""
    few = site.k[0] < _FEW_STEPS and len(site.offsets_a) > 1
    return -(-_FEW_STEPS // site.k[0]) if few and site.ahead_steps else 0


def _keeps_a(site: GemmSite, block: OutputBlock) -> bool:
    """Whether the compiler is told to keep A's vectors in registers, of which AVX-512 has enough.

    gcc 12, above all if it tunes for Zen, reads them from memory again for each column of tall blocks.
    """
    return site.element != BFLOAT16 and len(block.rows) > _TALL and 2 < len(block.columns_b) <= _NARROW


def _columns_meet(site: GemmSite, block: OutputBlock) -> bool:
    """Whether two columns read the same element of B in different steps of k, as the columns of an image row do."""
    places, step = block.columns_b, site.stride_bk
    apart = {other - one for number, one in enumerate(places) for other in places[number + 1 :]}
    return step != 0 and any(way % step == 0 and 0 < abs(way // step) < site.k[0] for way in apart)


def _fetched(site: GemmSite, block: OutputBlock) -> list[str]:
    """The C that prefetches B: one cache line of each column, spread over as many steps of k as a line has elements."""
    length = block.line_bytes // VECTOR_BYTES[site.element]
    columns = len(block.columns_b)
    stride = block.columns_b[1] - block.columns_b[0] if columns > 1 else 0
    column = f"(l & {length - 1}) * {columns} / {length}"
    lines = []
    for place in range(0, columns, length):
        if columns > length:
            column = f"({place} + (l & {length - 1}))"
        lines.append(
            f"      __builtin_prefetch(br + (l & ~{length - 1}l) + {block.next_b} + {column} * {stride}, 0, 2);"
        )
    return lines


def scalar_block(name: str, site: GemmSite, rows: int) -> str:
    """A function for element types without vectors of their own."""
    first = f"first ? ({site.accumulator})0 : " if site.overwrites else ""
    return "\n".join(
        [
            f"static inline void {name}(const {site.element} *a, const {site.type_b} *b, {site.accumulator} *c, "
            f"long n, long k, long count{FIRST if site.overwrites else ''})",
            "{",
            "  for (long j = 0; j < n; ++j) {",
            # Aligned by hand: gcc 12 with AVX-512 was seen to store a whole vector into a misaligned red zone.
            f"    {site.accumulator} sum[{rows}] __attribute__((aligned(64)));",
            f"    for (int i = 0; i < {rows}; ++i)",
            f"      sum[i] = {first}c[i + j * {site.ldc}];",
            "    for (long r = 0; r < count; ++r)",
            "      for (long l = 0; l < k; ++l) {",
            f"        const {site.type_b} *at = b + {site.prefix}_offsets_b[r] + j * {site.stride_bn} + "
            f"l * {site.stride_bk};",
            # Each by itself: gcc 12 at -O3 was seen to read bytes of several steps at once, some beyond the last.
            '        __asm__("" : "+r"(at));',
            f"        const {site.accumulator} bv = ({site.accumulator})*at;",
            f"        for (int i = 0; i < {rows}; ++i)",
            f"          sum[i] += ({site.accumulator})a[{site.prefix}_offsets_a[r] + i + l * {site.lda}] * bv;",
            "      }",
            f"    for (int i = 0; i < {rows}; ++i)",
            f"      c[i + j * {site.ldc}] = sum[i];",
            "  }",
            "}",
        ]
    )


def lengths(site: GemmSite) -> str:
    """The C declarators of m, n and k of one call, which depend on whether its tiles are the last ones."""
    return ", ".join(
        f"{role} = last_{role} ? {ends[1]} : {ends[0]}" for role, ends in (("m", site.m), ("n", site.n), ("k", site.k))
    )


def summing_loops(site: GemmSite, name: str, operands: str, column: str, factor: str, value: str = "column[i]") -> str:
    """A function of plain loops: small, since it is compiled with every candidate and hardly ever called.

    ``column`` is the address of A's elements of product ``r`` and step ``l``, ``value`` one of them, and ``factor`` the
    element of B by which they are multiplied.
    """
    return "\n".join(
        [
            f"static void {name}({operands}, int last_m, int last_n, int last_k, long count{FIRST})",
            "{",
            f"  const long {lengths(site)};",
            "  if (first)",
            "    for (long j = 0; j < n; ++j)",
            "      for (long i = 0; i < m; ++i)",
            f"        c[i + j * {site.ldc}] = 0;",
            "  for (long r = 0; r < count; ++r)",
            "    for (long j = 0; j < n; ++j)",
            "      for (long l = 0; l < k; ++l) {",
            f"        const {site.element} *column = {column};",
            f"        const {site.accumulator} factor = {factor};",
            "        for (long i = 0; i < m; ++i)",
            f"          c[i + j * {site.ldc}] += {value} * factor;",
            "      }",
            "}",
        ]
    )
