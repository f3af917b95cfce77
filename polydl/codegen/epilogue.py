"""The C function that applies element-wise statements to a block of a product's output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from polydl.codegen.expressions import StatementWriter, subscripted
from polydl.contracts import GemmSite
from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Expression
from polydl.plan.epilogue import Epilogue, EpilogueOperand, EpilogueStatement

# The element of the output.
_ELEMENT = "polydl_element"
# Of sums whose conditionals are taken apart.
_BYTES = {"float": 4, "double": 8}


def epilogue_arguments(scop: Scop, prefix: str, epilogue: Epilogue, iterators: Sequence[str]) -> str:
    """What a call passes on: where each operand of the tile begins; ``iterators`` are the product's, in C."""
    addresses = ", ".join(f"&{subscripted(scop, operand.access, iterators)}" for operand in epilogue.operands)
    return f"&(struct {prefix}_operands){{{addresses}}}"


def epilogue_definition(scop: Scop, epilogue: Epilogue, site: GemmSite, vector_bytes: int) -> str:
    """C of the functions ``<prefix>_after`` and ``<prefix>_after_column`` of a site."""
    lines: list[_Line] = []
    inner = 0
    for applied in epilogue.statements:
        text = _BlockWriter(scop, applied, epilogue.operands, site.accumulator).write(applied.statement.body)
        apart = _ApartWriter(scop, applied, epilogue.operands, site.accumulator, inner)
        rest = apart.write(applied.statement.body)
        inner += len(apart.inner)
        lines.append(_Line(f"{text};", tuple(apart.inner), f"{rest};"))
    definition = _definition(site, epilogue.operands, lines, epilogue.linear, vector_bytes)
    return f"#include <math.h>\n{definition}" if epilogue.calls else definition


@dataclass(frozen=True)
class _Line:
    """A statement in C; and its conditionals inside of others, with what uses them."""

    text: str
    inner: tuple[str, ...]
    rest: str


class _BlockWriter(StatementWriter):
    """Writes a statement's expression, with references to operands of a block."""

    def __init__(
        self, scop: Scop, applied: EpilogueStatement, operands: Sequence[EpilogueOperand], accumulator: str
    ) -> None:
        super().__init__(scop, applied.statement, [""] * applied.statement.depth)
        self._references = applied.references
        self._operands = operands
        self._accumulator = accumulator

    def _access(self, node: Expression) -> str:
        """The reference in C, in row ``i`` of a column whose first elements are in variables."""
        access = self._references[node.text]
        number = self._number(access)
        operand = self._operands[number]
        if operand.written:
            return _ELEMENT
        along = operand.along_m
        return f"x{number}[{'i' if along == 1 else f'i * {along}' if along else '0'}]"

    def _number(self, access: Access) -> int:
        return [operand.key for operand in self._operands].index((access.array, access.subscripts))


class _ApartWriter(_BlockWriter):
    """The same with conditionals inside of others in arrays, if anything may be computed of them at any time.

    Compilers make masks of masks of them otherwise: of a value that is held between two bounds nine instructions for
    four.
    """

    def __init__(
        self,
        scop: Scop,
        applied: EpilogueStatement,
        operands: Sequence[EpilogueOperand],
        accumulator: str,
        number: int,
    ) -> None:
        super().__init__(scop, applied, operands, accumulator)
        self.inner: list[str] = []
        self._first = number
        self._outermost = True

    def _operation(self, node: Expression) -> str:
        if node.text != "?:":
            return super()._operation(node)
        outermost, self._outermost = self._outermost, False
        text = super()._operation(node)
        self._outermost = outermost
        if outermost or not all(map(self._harmless, node.walk())):
            return text
        self.inner.append(text)
        return f"inner{self._first + len(self.inner) - 1}[i]"

    def _harmless(self, node: Expression) -> bool:
        kind = self._accumulator
        if kind not in _BYTES:
            return False
        if node.kind == "access":
            return self._operands[self._number(self._references[node.text])].written
        if node.kind == "literal":
            return kind == "double" or node.text.isdigit() or node.text[-1] in "fF"
        return node.kind == "op" and node.text in ("?:", "+", "-", "*", "<", "<=", ">", ">=", "==", "!=")


def _definition(
    site: GemmSite, operands: Sequence[EpilogueOperand], lines: Sequence[_Line], linear: bool, vector_bytes: int
) -> str:
    prefix = site.prefix
    kinds = [f"{'' if each.written else 'const '}{each.element} *" for each in operands]
    widest = max((8 if each.element in ("double", "long") else 4) for each in operands)
    tables, starts, moves = [], [], []
    for number, (each, kind) in enumerate(zip(operands, kinds, strict=True)):
        start = f"operands->x{number}"
        if not linear:
            tables.append(f"static const long {prefix}_rows{number}[] = {{{', '.join(map(str, each.rows))}}};")
            start += f" + {prefix}_rows{number}[q]"
        start += f" + j * {each.along_n}" if each.along_n else ""
        start += " + row" + (f" * {each.along_m}" if each.along_m > 1 else "") if each.along_m else ""
        starts.append(f"{kind}x{number} = {start};")
        moves += [f"x{number} += {each.along_n}"] if each.along_n else []
    output = next(f"x{number}[i]" for number, each in enumerate(operands) if each.written)
    # Columns lie alike along a row of the call, and along all rows where these lie alike.
    length = "columns" if linear else f"(columns < {site.n[0]} - j ? columns : {site.n[0]} - j)"
    begins = "const long j = first;" if linear else f"const long q = first / {site.n[0]}, j = first % {site.n[0]};"
    sums = f"const {site.accumulator} *sums"
    names = ", ".join(f"x{number}" for number in range(len(kinds)))
    column = ", ".join(f"{kind}x{number}" for number, kind in enumerate(kinds))
    given = f"const struct {prefix}_operands *operands, {sums}"
    simd = f"#pragma omp simd simdlen({vector_bytes // widest})"
    finished = [f"  {prefix}_finished(sums, {names}, rows);"]
    if any(line.inner for line in lines):
        finished = _one_by_one(site.accumulator, lines, output, simd, vector_bytes // _BYTES[site.accumulator])
    return "\n".join(
        [
            f"struct {prefix}_operands {{ {' '.join(f'{kind}x{n};' for n, kind in enumerate(kinds))} }};",
            *tables,
            # What is called for registers must be part of their block.
            f"static inline __attribute__((always_inline)) void {prefix}_finished({sums}, {column}, long rows)",
            "{",
            f"  {simd}",
            "  for (long i = 0; i < rows; ++i) {",
            f"    {site.accumulator} {_ELEMENT} = sums[i];",
            *(f"    {line.text}" for line in lines),
            f"    {output} = {_ELEMENT};",
            "  }",
            "}",
            f"static inline __attribute__((always_inline)) void {prefix}_after_column({given}, long first, long row, "
            "long rows)",
            "{",
            *(f"  {text}" for text in (begins, *starts)),
            *finished,
            "}",
            f"static inline void {prefix}_after({given}, long apart, long first, long columns, long row, long rows)",
            "{",
            "  while (columns > 0) {",
            *(f"    {text}" for text in (begins, f"const long length = {length};", *starts)),
            f"    for (long column = 0; column < length; ++column, {', '.join(['sums += apart', *moves])})",
            f"      {prefix}_finished(sums, {names}, rows);",
            "    first += length;",
            "    columns -= length;",
            "  }",
            "}",
        ]
    )


def _one_by_one(accumulator: str, lines: Sequence[_Line], output: str, simd: str, most: int) -> list[str]:
    """C that applies statements to at most so many rows, each conditional in a loop of its own."""
    found = [f"  {accumulator} values[{most}];"] if len(lines) > 1 else []
    source = "sums[i]"
    number = 0
    for place, line in enumerate(lines):
        target = output if place == len(lines) - 1 else "values[i]"
        steps = [(f"{_ELEMENT} = {text};", f"inner{number + own}[i]") for own, text in enumerate(line.inner)]
        found += [f"  {accumulator} inner{number + own}[{most}];" for own in range(len(steps))]
        number += len(steps)
        for text, kept in (*steps, (line.rest, target)):
            found += [
                f"  {simd}",
                "  for (long i = 0; i < rows; ++i) {",
                f"    {accumulator} {_ELEMENT} = {source};",
                f"    {text}",
                f"    {kept} = {_ELEMENT};",
                "  }",
            ]
        source = "values[i]"
    return found
