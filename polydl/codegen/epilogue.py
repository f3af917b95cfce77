"""Element-wise statements that a microkernel applies to each block of its output as soon as that is complete.

A statement that a variant attaches to the tiles of a product needs no loops of its own if the microkernel hands over
each block after its last store: the block is in the first cache then, or still in registers. What makes that legal is
that each instance depends on those alone that write the same element (``fusion/algorithm_3.py``); here it is asked
whether that can be seen from the subscripts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from polydl.bfloat16 import ELEMENT as BFLOAT16
from polydl.codegen.expressions import StatementWriter, subscripted
from polydl.contracts import GemmSite
from polydl.ir.affine import Affine
from polydl.ir.schedule import Loop
from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Expression, Statement
from polydl.match.alignment import loops_alike
from polydl.match.product import GemmMatch
from polydl.plan.plan import NestPlan, Plan, offsets
from polydl.vector_functions import called, includes_math, scalar_only

# In place of an iterator, whose value is not at hand.
_NOWHERE = "polydl_nowhere"
# The element of the output.
_ELEMENT = "polydl_element"
# Types that need no declaration of the user's.
_TYPES = frozenset({"char", "short", "int", "long", "float", "double", "signed", "unsigned"})
# Of sums whose conditionals are taken apart.
_BYTES = {"float": 4, "double": 8}


@dataclass(frozen=True)
class _Operand:
    """An array reference over the iterators of the product, and the elements it moves on by along the output."""

    access: Access
    element: str
    written: bool
    along_m: int
    along_n: int
    rows: tuple[int, ...]


@dataclass(frozen=True)
class Epilogue:
    """What runs after the last store of a block: the nests that need no loops of their own then, and the function."""

    prefix: str
    nests: tuple[int, ...]
    definition: str
    operands: tuple[Access, ...]
    calls: bool

    def arguments(self, scop: Scop, iterators: Sequence[str]) -> str:
        """What the call passes on, in C: where each operand of the tile begins; ``iterators`` are the product's."""
        addresses = ", ".join(f"&{subscripted(scop, access, iterators)}" for access in self.operands)
        return f"&(struct {self.prefix}_operands){{{addresses}}}"


def epilogue_of(
    scop: Scop, plan: Plan, heavy: NestPlan, match: GemmMatch, site: GemmSite, vector_bytes: int, *, exact: bool = False
) -> Epilogue | None:
    """The element-wise nests after a product that its microkernel can apply; None if there are none.

    With ``exact`` the functions that they call must be those of the source.
    """
    product = scop.statement(heavy.nest.statements[0])
    writer = _Writer(scop, heavy, product, match)
    if heavy.position is None or heavy.nest.depth or any(loop.combined for loop in heavy.loops):
        return None
    nests: list[int] = []
    lines: list[_Line] = []
    followers = [nest for nest in plan.nests if nest.follows == heavy.nest.index]
    for nest in sorted(followers, key=_position):
        if _position(nest) < heavy.position:
            continue
        texts = [writer.text(scop.statement(name), exact=exact) for name in nest.nest.statements]
        if None in texts:
            break
        nests.append(nest.nest.index)
        lines += [text for text in texts if text is not None]
    found = writer.operands
    linear = all(each.rows == tuple(site.n[0] * each.along_n * row for row in range(site.rows)) for each in found)
    if not nests or not (linear or site.n[0] == site.n[1]):
        return None
    definition = _definition(site, found, lines, linear, vector_bytes)
    definition = f"#include <math.h>\n{definition}" if writer.calls else definition
    return Epilogue(site.prefix, tuple(nests), definition, tuple(each.access for each in found), writer.calls)


def _position(nest: NestPlan) -> int:
    *_, own = nest.nest.prefix
    assert isinstance(own, int)
    return own


def last_values(scop: Scop, plan: NestPlan, moves_output: Mapping[int, bool]) -> Iterator[tuple[int, int]]:
    """Of the loops around a nest's calls, those that don't move the output: place, and value in the last iteration."""
    box = scop.statement(plan.nest.statements[0]).box
    assert box is not None
    shared = [each for each in plan.nest.prefix if isinstance(each, Loop)]
    for place, loop in enumerate((*shared, *plan.loops)):
        if not moves_output[loop.iterator]:
            yield place, loop.last(*box[loop.iterator])


@dataclass(frozen=True)
class _Line:
    """A statement in C; and its conditionals inside of others, with what uses them."""

    text: str
    inner: tuple[str, ...]
    rest: str


class _Writer:
    """Writes statements over the elements of a block, and collects the operands that they need."""

    def __init__(self, scop: Scop, heavy: NestPlan, product: Statement, match: GemmMatch) -> None:
        self.scop = scop
        self.heavy = heavy
        self.product = product
        self.match = match
        self.calls = False
        self.inner = 0
        self.found: dict[tuple[str, tuple[Affine, ...]], _Operand] = {}

    @property
    def operands(self) -> list[_Operand]:
        return list(self.found.values())

    def text(self, statement: Statement, *, exact: bool) -> _Line | None:
        """The statement in C; None if it needs more than the element that it writes and what nobody writes."""
        names = called([statement])
        self.calls |= bool(names)
        if scalar_only(self.scop, names, exact=exact) or (names and not includes_math(self.scop)):
            return None
        if any(node.kind == "cast" and not {*node.text.split()} <= _TYPES for node in statement.body.walk()):
            return None
        aligned = self._aligned(statement)
        if aligned is None or not self._own_element_alone(statement, aligned):
            return None
        text = _BlockWriter(self.scop, statement, aligned, self).write(statement.body)
        if _NOWHERE in text:
            return None
        apart = _ApartWriter(self.scop, statement, aligned, self, self.inner)
        line = apart.write(statement.body)
        self.inner += len(apart.inner)
        return _Line(f"{text};", tuple(apart.inner), f"{line};")

    def _aligned(self, statement: Statement) -> Mapping[str, Access] | None:
        """Each reference over the iterators of the product, if both run through the same elements."""
        pairs = loops_alike(self.product, statement)
        if pairs is None or statement.box is None:
            return None
        partner = {theirs: (ours, ahead) for ours, (theirs, ahead) in pairs.items()}
        found = {}
        for access in statement.accesses:
            if access.subscripts is None or self.scop.array(access.array).element == BFLOAT16:
                return None
            forms = []
            for form in access.subscripts:
                coefficients, constant = [0] * self.product.depth, form.constant
                for place, coefficient in enumerate(form.coefficients):
                    if place in partner:
                        ours, ahead = partner[place]
                        coefficients[ours] += coefficient
                        constant += coefficient * ahead
                    else:
                        constant += coefficient * statement.box[place][0]
                forms.append(Affine(tuple(coefficients), constant))
            found[access.reference] = replace(access, subscripts=tuple(forms))
        return found

    def _own_element_alone(self, statement: Statement, aligned: Mapping[str, Access]) -> bool:
        (written,) = statement.writes
        output = self.match.form.c
        if written.array != output.array or aligned[written.reference].subscripts != output.subscripts:
            return False
        memory = self.scop.array(output.array).memory
        return all(
            self.scop.array(access.array).memory != memory
            or (access.array == output.array and aligned[access.reference].subscripts == output.subscripts)
            for access in statement.accesses
        )

    def is_output(self, access: Access) -> bool:
        return access.array == self.match.form.c.array

    def element(self, access: Access) -> str:
        """The reference in C, in row ``i`` of a column whose first elements are in variables."""
        assert access.subscripts is not None
        key = access.array, access.subscripts
        if key not in self.found:
            self.found[key] = self._operand(access)
        if self.found[key].written:
            return _ELEMENT
        number = list(self.found).index(key)
        along = self.found[key].along_m
        return f"x{number}[{'i' if along == 1 else f'i * {along}' if along else '0'}]"

    def _operand(self, access: Access) -> _Operand:
        assert access.subscripts is not None
        array = self.scop.array(access.array)
        strides = [
            sum(step * form.coefficients[place] for step, form in zip(array.strides, access.subscripts, strict=True))
            for place in range(self.product.depth)
        ]
        step = self.heavy.microkernel
        assert step is not None
        return _Operand(
            access,
            array.element,
            self.is_output(access),
            strides[self.match.m],
            strides[self.match.n],
            offsets(self.heavy, strides, step.rows),
        )


class _BlockWriter(StatementWriter):
    """A statement's expression, with references to operands of a block."""

    def __init__(self, scop: Scop, statement: Statement, aligned: Mapping[str, Access], writer: _Writer) -> None:
        super().__init__(scop, statement, [_NOWHERE] * statement.depth)
        self._aligned = aligned
        self._block = writer

    def _access(self, node: Expression) -> str:
        return self._block.element(self._aligned[node.text])


class _ApartWriter(_BlockWriter):
    """The same with conditionals inside of others in arrays, if anything may be computed of them at any time.

    Compilers make masks of masks of them otherwise: of a value that is held between two bounds nine instructions for
    four.
    """

    def __init__(
        self, scop: Scop, statement: Statement, aligned: Mapping[str, Access], writer: _Writer, number: int
    ) -> None:
        super().__init__(scop, statement, aligned, writer)
        self.inner: list[str] = []
        self._number = number
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
        return f"inner{self._number + len(self.inner) - 1}[i]"

    def _harmless(self, node: Expression) -> bool:
        kind = self._block.match.form.accumulator
        if kind not in _BYTES:
            return False
        if node.kind == "access":
            return self._block.is_output(self._aligned[node.text])
        if node.kind == "literal":
            return kind == "double" or node.text.isdigit() or node.text[-1] in "fF"
        return node.kind == "op" and node.text in ("?:", "+", "-", "*", "<", "<=", ">", ">=", "==", "!=")


def _definition(
    site: GemmSite, operands: Sequence[_Operand], lines: Sequence[_Line], linear: bool, vector_bytes: int
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
