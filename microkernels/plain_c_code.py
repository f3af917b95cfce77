"""The C of the microkernel that always works: functions for register blocks, and those that call them for each shape.

Loops over registers are written out, so that neither gcc nor clang has to decide anything: a block of some
vectors by as many columns as fit stays in registers while k and the batch run. Where m is not a multiple of the
vector, the last vector overlaps the one before it, so that no element is read or written outside of the operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice

from polydl.bfloat16 import ELEMENT as BFLOAT16
from polydl.contracts import EmittedSite, GemmShape, GemmSite
from polydl.ir.ingredients import Ingredients, VectorType
from polydl.machine.core import Core
from polydl.microkernels.next_tile import PART, steps_between
from polydl.microkernels.plain_c_blocks import (
    VECTOR_BYTES,
    OutputBlock,
    finishes,
    halves,
    more_parameters,
    products_ahead,
    scalar_block,
    table,
    vector_block,
    vectors_of,
    which_tiles,
    widening,
)
from polydl.microkernels.rest_rows import copied_rows, dots_function, lanes_function, rest_rows
from polydl.microkernels.shapes import RegisterTiling, register_tiling

# Rows of C that wait on the stack while products without vectors of their own are added to them.
_SCALAR_ROWS = 64
# Products with so many vectors of rows or fewer leave little time for the next columns to arrive by themselves.
_FEW_VECTORS = 8


def _power_of_two(least: int) -> int:
    return 1 << (least - 1).bit_length()


@dataclass(frozen=True)
class _Share:
    """What each register block of a call fetches ahead, evenly over its steps, and copies of the next tile."""

    #: cache lines that it fetches
    lines: int
    #: of them in each step of k that fetches
    fetched: int
    #: steps of k from one that fetches to the next
    every: int
    #: columns that it copies; 0 for none
    copied: int
    #: steps of k from one copy to the next
    between: int

    @staticmethod
    def of(site: GemmSite, shape: GemmShape, blocks: int, core: Core) -> _Share:
        """The share of one of so many blocks. ``shape`` has as many steps of k as the C of a block takes."""
        lines = -(-site.ahead // (blocks * core.line_bytes))
        steps = shape.k * shape.batch
        fetched = -(-lines // steps)
        every = 1 << max(0, (steps * fetched // max(1, lines)).bit_length() - 1)
        copied = -(-site.copied // blocks)
        return _Share(lines, fetched, every, copied, steps_between(shape.k, copied) if copied else 0)


def _pieces(tiling: RegisterTiling, width: int, rows: int, second: int) -> list[tuple[int, tuple[int, ...]]]:
    """The blocks of rows: the first row of each, and where its vectors begin from there on.

    ``second`` is not zero for a single vector in two overlapping halves.
    """
    pieces: list[tuple[int, tuple[int, ...]]] = []
    row = 0
    for vectors in tiling.vectors:
        taken = min(vectors * width, rows - row)
        pieces.append((row, (0,) if second else vectors_of(width, taken)))
        row += taken
    return pieces


def tiling_of(shape: GemmShape, width: int, core: Core, rest: int = 0) -> RegisterTiling:
    """The register blocks of a call, in vectors of ``width`` rows of C, but for the last ``rest`` rows."""
    vectors, remainder = divmod(shape.m - rest, width)
    overlaps = vectors > 0 and remainder > 0
    steps = shape.k * shape.batch
    return register_tiling(vectors + (remainder > 0), shape.n, shape.rows, core, 2 if overlaps else 1, steps)


class Writer:
    """Collects the functions and tables that one site needs, each once.

    The vectors are of ``width`` accumulators. ``step_a`` is A's stride along m.
    """

    step_a = 1

    def __init__(self, site: GemmSite, vector_bytes: int, core: Core) -> None:
        self.site = site
        self.core = core
        self.bytes = VECTOR_BYTES.get(site.element, 0)
        self.width = vector_bytes // self.bytes if self.bytes else 0  # none: element types without vectors
        self.more = ", first" if site.overwrites else ""
        #: elements of the vectors that were asked for
        self.widths: dict[int, None] = {}
        #: (elements, where the second half begins) of vectors that are made of two overlapping halves
        self.halves: dict[tuple[int, int], None] = {}
        #: name and C of each function, by what it is for
        self.functions: dict[object, tuple[str, str]] = {}
        #: name of each table, by its values
        self.tables: dict[tuple[int, ...], str] = {}

    def definitions(self) -> list[str]:
        """The C at file scope of all that was asked for, each once, with types first."""
        prefix = self.site.prefix
        types = [each.declaration for each in self.ingredients.vector_types]
        joined = [halves(prefix, width, second) for width, second in self.halves]
        if self.site.element == BFLOAT16:
            joined += [widening(prefix, width) for width in self.widths]
        copies = [PART.format(prefix=prefix)] if self.site.copied else []
        return [*types, *joined, *copies, *self.shared()]

    @property
    def ingredients(self) -> Ingredients:
        """What the definitions have, once all of them are known."""
        return Ingredients(vector_types=tuple(map(self.vector_type, self.widths)))

    def vector_type(self, width: int) -> VectorType:
        """The type of vectors of ``width`` accumulators."""
        name, accumulator = f"{self.site.prefix}_vector{width}", self.site.accumulator
        declaration = (
            f"typedef {accumulator} {name} "
            f"__attribute__((vector_size({width * self.bytes}), aligned(sizeof({accumulator})), may_alias));"
        )
        return VectorType(name, accumulator, width, declaration)

    def shared(self) -> list[str]:
        """The tables and functions that calls of blocks use."""
        tables = [table(name, values) for values, name in self.tables.items()]
        return [*tables, *(text for _, text in self.functions.values())]

    def text(self, name: str, block: OutputBlock) -> str:
        """The function that updates one block of C."""
        return vector_block(name, self.site, block)

    def _block(self, block: OutputBlock) -> str:
        self.widths[block.width] = None
        if block.second:
            self.widths[block.width // 2] = None
            self.halves[block.width, block.second] = None
        if block not in self.functions:
            name = f"{self.site.prefix}_block{len(self.functions)}_{len(block.rows)}x{len(block.columns_b)}"
            self.functions[block] = (name, self.text(name, block))
        return self.functions[block][0]

    def _dots(self, width: int, rest: int, steps: int, columns_b: tuple[int, ...], columns_c: tuple[int, ...]) -> str:
        lanes = ("lanes", width)
        for power in range(1, width.bit_length()):
            self.widths[1 << power] = None
        self.functions.setdefault(lanes, ("", lanes_function(self.site, width)))
        key = (rest, steps, columns_b, columns_c)
        if key not in self.functions:
            name = f"{self.site.prefix}_dots{len(self.functions)}_{rest}x{len(columns_b)}"
            text = dots_function(name, self.site, width, rest, steps, columns_b, columns_c)
            self.functions[key] = (name, text)
        return self.functions[key][0]

    def _scalar(self, rows: int) -> str:
        if rows not in self.functions:
            name = f"{self.site.prefix}_scalar_{rows}"
            self.functions[rows] = (name, scalar_block(name, self.site, rows))
        return self.functions[rows][0]

    def _starts(self, values: Sequence[int]) -> str:
        return self.tables.setdefault(tuple(values), f"{self.site.prefix}_starts{len(self.tables)}")

    def _columns(self, n: int) -> tuple[list[int], list[int]]:
        """Where each column of a call lies in B and in C."""
        site = self.site
        places = [(row, j) for row in range(site.rows) for j in range(n)]
        return (
            [site.rows_b[row] + j * site.stride_bn for row, j in places],
            [site.rows_c[row] + j * site.ldc for row, j in places],
        )

    def run(self, name: str, shape: GemmShape) -> str:
        """The function for one shape: walks the output tile in register blocks."""
        body: list[str] = []
        if self.width:
            body = self._tiled(min(self.width, _power_of_two(shape.m)), shape)
        else:
            for row in range(0, shape.m, _SCALAR_ROWS):
                call = self._scalar(min(shape.m - row, _SCALAR_ROWS))
                for b, c in zip(self.site.rows_b, self.site.rows_c, strict=True):
                    body.append(f"  {call}(a + {row}, b + {b}, c + {row + c}, {shape.n}, {shape.k}, count{self.more});")
            body += self._finished(shape)
        site = self.site
        head = (
            f"static void {name}(const {site.element} *a, const {site.type_b} *b, {site.accumulator} *c, long count"
            f"{more_parameters(site)})"
        )
        return "\n".join([head, "{", *body, "}"])

    def _next_b(self, columns: Sequence[int], shape: GemmShape) -> int:
        """How far on what is read after these columns lies, if it pays to fetch it; 0 if not.

        It does where B comes from afar and fast: few rows make little work of each element, and its products lie far
        apart (the next columns are fetched), or a single product's columns do (each is followed along k, to where the
        next call may begin). B must be contiguous along k, and a call read no element of it in two columns or products:
        rows of an image that filters with several taps read again and again are near already.
        """
        site = self.site
        span = self.bytes * (max(site.offsets_b) - min(site.offsets_b))
        stride = columns[1] - columns[0] if len(columns) > 1 else site.stride_bn
        followed = self.core.column_ahead_steps
        alone = len(site.offsets_b) == 1 and self.bytes * stride >= self.core.page_bytes and shape.k >= 2 * followed > 0
        most = 1 if alone else _FEW_VECTORS if span >= self.core.near_bytes else 0
        if shape.m > most * self.width:
            return 0
        if not self.bytes or site.stride_bk != 1 or shape.k < self.core.line_bytes // self.bytes or stride < shape.k:
            return 0
        if any(place != number * stride for number, place in enumerate(columns)):
            return 0
        places = {offset + column * site.stride_bn for offset in site.offsets_b for column in range(site.n[0])}
        if len(places) < len(site.offsets_b) * site.n[0]:
            return 0
        return followed if alone else stride * len(columns)

    def in_steps(self, shape: GemmShape) -> GemmShape:
        """The shape with what a block takes at a time as a step of k."""
        return shape

    def _tiled(self, width: int, shape: GemmShape) -> list[str]:
        """Calls for all register blocks; those whose columns lie alike share a function and a loop."""
        shape = self.in_steps(shape)
        rest = 0 if self.site.copied or self.site.ordered else rest_rows(shape, width)
        tiling = tiling_of(shape, self.width, self.core, rest)
        # Fewer rows than a vector has fill a narrower one, or two overlapping halves of it.
        second = max(0, shape.m - width // 2) if shape.m < width else 0
        pieces = _pieces(tiling, width, shape.m - rest, second)
        share = _Share.of(self.site, shape, len(pieces) * len(tiling.columns), self.core)
        number = 0
        lines = copied_rows(self.site, shape, rest) if rest else []
        for (columns_b, columns_c), firsts in self._alike(tiling, shape.n).items():
            next_b = self._next_b(columns_b, shape)
            calls = []
            for at, begins in pieces:
                block = OutputBlock(
                    width, begins, second, columns_b, columns_c, self.core.line_bytes, share.fetched, share.every
                )
                block = replace(block, next_b=0 if at else next_b)
                if share.copied:
                    ahead = self.core.copy_ahead_columns
                    block = replace(block, copied=shape.m, between=share.between, ahead=ahead)
                calls.append((self._block(block), at))
            several = len(firsts) > 1
            b, c, in_tile = (str(place) for place in firsts[0])
            if several:
                of_b, of_c, in_c = zip(*firsts, strict=True)
                b, c = f"{self._starts(of_b)}[i]", f"{self._starts(of_c)}[i]"
                in_tile = f"{self._starts(in_c)}[i]" if self.site.after else ""
            body = []
            for place, (call, at) in enumerate(calls):
                before = f"({number + place} + i * {len(calls)})" if several else f"{number + place}"
                more = self._more_of_block(share, shape, before, in_tile, at)
                body.append(f"{call}(a + {at * self.step_a}, b + {b}, c + {at} + {c}, {shape.k}, count{more});")
            if rest:
                dots = self._dots(width, rest, shape.k * shape.batch, columns_b, columns_c)
                at = shape.m - rest
                more = self.more + (f", last, operands, {in_tile}, {at}" if self.site.after else "")
                body.append(f"{dots}(rest, b + {b}, c + {at} + {c}, {shape.k}, count{more});")
            if several:
                body = [f"for (int i = 0; i < {len(firsts)}; ++i) {{", *(f"  {line}" for line in body), "}"]
            lines += [f"  {line}" for line in body]
            number += len(calls) * len(firsts)
        return [*lines, *([] if finishes(self.site, second) else self._finished(shape))]

    def _alike(
        self, tiling: RegisterTiling, n: int
    ) -> dict[tuple[tuple[int, ...], tuple[int, ...]], list[tuple[int, int, int]]]:
        """Blocks of columns by where their columns lie in B and in C, from the first one on.

        Each block is the place of its first column in B, in C and among all columns.
        """
        in_b, in_c = self._columns(n)
        alike: dict[tuple[tuple[int, ...], tuple[int, ...]], list[tuple[int, int, int]]] = {}
        column = 0
        for count in tiling.columns:
            places = range(column, column + count)
            key = tuple(in_b[p] - in_b[column] for p in places), tuple(in_c[p] - in_c[column] for p in places)
            alike.setdefault(key, []).append((in_b[column], in_c[column], column))
            column += count
        return alike

    def _more_of_block(self, share: _Share, shape: GemmShape, before: str, in_tile: str, at: int) -> str:
        """The arguments of a block's call behind the count.

        ``before`` is C of how many blocks there are before it, ``in_tile`` of its first column, ``at`` its first row.
        """
        site, more = self.site, self.more
        if site.ahead:
            more += f", ahead + {before} * {share.lines * self.core.line_bytes}"
        if share.copied:
            more += f", from + {before} * {share.copied * site.copied_lda}, to + {before} * {share.copied * shape.m}"
            more += f", {site.prefix}_part(columns - {before} * {share.copied}, {share.copied})"
        if site.after:
            more += f", last, operands, {in_tile}, {at}"
        return more

    def _finished(self, shape: GemmShape) -> list[str]:
        """What finishes the tile of a call whose blocks don't do that themselves."""
        site = self.site
        if not site.after:
            return []
        start = f"{self._starts(site.rows_c)}[q]"
        return [
            "  if (last)",
            f"    for (int q = 0; q < {site.rows}; ++q)",
            f"      {site.prefix}_after(operands, c + {start}, {site.ldc}, q * {shape.n}, {shape.n}, 0, {shape.m});",
        ]

    def emitted(self) -> EmittedSite:
        """All of the site's C, with ``<prefix>_run`` as the entry."""
        site = self.site
        runs = {index: f"{site.prefix}_run_{''.join(map(str, index))}" for index, _ in site.shapes()}
        bodies = [self.run(runs[index], shape) for index, shape in site.shapes()]
        again = islice(cycle(site.offsets_a), products_ahead(site))
        tables = [
            table(f"{site.prefix}_offsets_a", [*site.offsets_a, *again]),
            table(f"{site.prefix}_offsets_b", site.offsets_b),
        ]
        more = f"{self.more}{', ahead' if site.ahead else ''}{', from, to, columns' if site.copied else ''}"
        more += ", last, operands" if site.after else ""
        cases = []
        for index, name in runs.items():
            cases.append(f"  if ({which_tiles(site, index)})\n    {name}(a, b, c, count{more});")
        unused = [
            f"  (void)last_{r};" for r, ends in zip("mnk", (site.m, site.n, site.k), strict=True) if ends[0] == ends[1]
        ]
        if not site.overwrites:
            unused.append("  (void)first;")
        entry = "\n".join(
            [
                f"static void {site.prefix}_run(const {site.element} *a, const {site.type_b} *b, "
                f"{site.accumulator} *c, "
                f"int last_m, int last_n, int last_k, long count"
                f"{more_parameters(replace(site, overwrites=True))})",
                "{",
                *unused,
                *cases,
                "}",
            ]
        )
        text = "\n".join([*tables, *self.definitions(), *bodies, entry])
        return EmittedSite((), text, "", ingredients=self.ingredients)
