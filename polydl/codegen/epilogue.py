"""The C function that applies element-wise statements to a block of a product's output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from polydl.codegen.loop_ir import Assign, with_elements_of
from polydl.codegen.lowering import assignment, element
from polydl.codegen.print_c import lines, text, whole
from polydl.codegen.values import (
    COMPARISONS,
    AddressOf,
    Binary,
    Conditional,
    Constant,
    Element,
    Expr,
    Integer,
    Name,
    Unary,
    walk,
    with_parts,
)
from polydl.contracts import GemmSite
from polydl.ir.scop import REAL_BYTES, Scop
from polydl.plan.epilogue import Epilogue, EpilogueOperand, EpilogueStatement

# The element of the output.
_ELEMENT = Name("polydl_element")
# The row of a block.
_ROW = Name("i")
_HARMLESS = COMPARISONS | {"+", "-", "*"}
# Of sums whose conditionals are taken apart.


def epilogue_arguments(scop: Scop, prefix: str, epilogue: Epilogue, iterators: Sequence[Expr]) -> str:
    """What a call passes on, in C: where each operand of the tile begins; ``iterators`` are the product's."""
    places = (AddressOf(element(scop, operand.access, iterators)) for operand in epilogue.operands)
    return f"&(struct {prefix}_operands){{{', '.join(map(whole, places))}}}"


def epilogue_definition(scop: Scop, epilogue: Epilogue, site: GemmSite, vector_bytes: int) -> str:
    """C of the functions ``<prefix>_after`` and ``<prefix>_after_column`` of a site."""
    found: list[_Line] = []
    first = 0
    for applied in epilogue.statements:
        assign = _on_block(scop, applied, epilogue.operands)
        inner: list[Expr] = []
        rest = replace(assign, value=_apart(assign.value, inner, first, site.accumulator))
        first += len(inner)
        found.append(_Line(_line(assign), tuple(map(text, inner)), _line(rest)))
    definition = _definition(site, epilogue.operands, found, epilogue.linear, vector_bytes)
    return f"#include <math.h>\n{definition}" if epilogue.calls else definition


@dataclass(frozen=True)
class _Line:
    """A statement in C; and its conditionals inside of others, with what uses them."""

    text: str
    inner: tuple[str, ...]
    rest: str


def _line(assign: Assign) -> str:
    return "\n".join(lines((assign,)))


def _on_block(scop: Scop, applied: EpilogueStatement, operands: Sequence[EpilogueOperand]) -> Assign:
    """The statement in row ``i`` of a column of a block, whose first elements are in variables."""
    keys = [operand.key for operand in operands]

    def place(access: Element) -> Expr:
        aligned = applied.references[access.reference]
        number = keys.index((aligned.array, aligned.subscripts))
        if operands[number].written:
            return _ELEMENT
        along = operands[number].along_m
        row = Integer(0) if not along else _ROW if along == 1 else Binary("*", _ROW, Integer(along))
        return Element(f"x{number}", (row,))

    # The values of the statement's own iterators don't matter: its references are those of the product's.
    (made,) = with_elements_of((assignment(scop, applied.statement, [_ROW] * applied.statement.depth),), place)
    assert isinstance(made, Assign)
    return made


def _apart(value: Expr, inner: list[Expr], first: int, accumulator: str, *, outermost: bool = True) -> Expr:
    """The expression with conditionals inside of others in arrays, if anything may be computed of them at any time.

    What is taken out goes to ``inner``; the arrays are numbered from ``first`` on. Compilers make masks of masks of
    them otherwise: of a value that is held between two bounds nine instructions for four.
    """
    conditional = isinstance(value, Conditional)
    changed = with_parts(
        value, lambda part: _apart(part, inner, first, accumulator, outermost=outermost and not conditional)
    )
    if not conditional or outermost or not all(_is_harmless(part, accumulator) for part in walk(value)):
        return changed
    inner.append(changed)
    return Element(f"inner{first + len(inner) - 1}", (_ROW,))


def _is_harmless(value: Expr, accumulator: str) -> bool:
    """Whether an expression takes the same time, and raises nothing, whatever the numbers are."""
    if accumulator not in REAL_BYTES:
        return False
    match value:
        case Name():
            return value == _ELEMENT
        case Constant(number):
            return accumulator == "double" or number.isdigit() or number[-1] in "fF"
        case Unary(operator) | Binary(operator):
            return operator in _HARMLESS
    return isinstance(value, Conditional)


def _definition(
    site: GemmSite, operands: Sequence[EpilogueOperand], statements: Sequence[_Line], linear: bool, vector_bytes: int
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
    if any(line.inner for line in statements):
        finished = _one_by_one(site.accumulator, statements, output, simd, vector_bytes // REAL_BYTES[site.accumulator])
    return "\n".join(
        [
            f"struct {prefix}_operands {{ {' '.join(f'{kind}x{n};' for n, kind in enumerate(kinds))} }};",
            *tables,
            # What is called for registers must be part of their block.
            f"static inline __attribute__((always_inline)) void {prefix}_finished({sums}, {column}, long rows)",
            "{",
            f"  {simd}",
            "  for (long i = 0; i < rows; ++i) {",
            f"    {site.accumulator} {_ELEMENT.name} = sums[i];",
            *(f"    {line.text}" for line in statements),
            f"    {output} = {_ELEMENT.name};",
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


def _one_by_one(accumulator: str, statements: Sequence[_Line], output: str, simd: str, most: int) -> list[str]:
    """C that applies statements to at most so many rows, each conditional in a loop of its own."""
    found = [f"  {accumulator} values[{most}];"] if len(statements) > 1 else []
    source = "sums[i]"
    number = 0
    for place, line in enumerate(statements):
        target = output if place == len(statements) - 1 else "values[i]"
        steps = [(f"{_ELEMENT.name} = {text};", f"inner{number + own}[i]") for own, text in enumerate(line.inner)]
        found += [f"  {accumulator} inner{number + own}[{most}];" for own in range(len(steps))]
        number += len(steps)
        for step, kept in (*steps, (line.rest, target)):
            found += [
                f"  {simd}",
                "  for (long i = 0; i < rows; ++i) {",
                f"    {accumulator} {_ELEMENT.name} = {source};",
                f"    {step}",
                f"    {kept} = {_ELEMENT.name};",
                "  }",
            ]
        source = "values[i]"
    return found
