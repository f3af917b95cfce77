"""Epilogues: element-wise statements that a microkernel applies to each block of its output that is complete.

``polydl.plan.epilogue`` decides which statements have no loops of their own then. Here they become functions, which the
microkernel calls (``polydl.contracts.GemmSite`` says how), and each call of the microkernel is told where the operands
of its tile are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from polydl.bfloat16 import FROM_FLOAT, TO_FLOAT
from polydl.codegen.context import Context, EpilogueFacts
from polydl.codegen.loop_ir import (
    Assign,
    Body,
    Call,
    Declare,
    Definition,
    Evaluate,
    For,
    Function,
    Node,
    Pragma,
    Structure,
    Table,
    Variable,
    While,
    mapped,
    with_elements_of,
    with_values,
)
from polydl.codegen.lowering import affine_element, in_box
from polydl.codegen.passes.common_values import with_common_values
from polydl.codegen.passes.nested_conditionals import distributed
from polydl.codegen.passes.rounded_stores import kept_as_float, rounding_of, rounding_store
from polydl.codegen.support import NARROW, WIDEN
from polydl.codegen.values import (
    AddressOf,
    Apply,
    Binary,
    Compound,
    Conditional,
    Element,
    Expr,
    Integer,
    Member,
    Name,
    at_all,
    linear,
    substituted,
    with_parts,
)
from polydl.ir.alignment import ALIGNMENT
from polydl.ir.scop import REAL_BYTES
from polydl.plan.epilogue import narrowest

# Floats in a buffer. Blocks in registers and of tiles have no more rows, so that compilers see one buffer.
_BUFFER = 64
# The element of the output, and its row in a block.
_ELEMENT, _ROW = Name("polydl_element"), Name("i")
# The place of the block's column in its row of columns, and the number of that row.
_COLUMN, _ROW_OF_COLUMNS = Name("j"), Name("q")
_SUMS, _APART = Name("sums"), Name("apart")
_FIRST, _COLUMNS, _LENGTH = Name("first"), Name("columns"), Name("length")
# The first row of a block, and how many it has.
_FIRST_ROW, _ROWS = Name("row"), Name("rows")


def run(ir: Body, context: Context) -> Body:
    """Calls of whose statements the context has an epilogue get their arguments, and the functions."""
    epilogues = {name: each.epilogue for name, each in context.calls.items() if each.epilogue is not None}
    rounds = context.rounds_by_instructions
    functions = {name: _Functions(each, rounds).definitions() for name, each in epilogues.items()}

    def changed(node: Node) -> Node:
        if not isinstance(node, Call) or node.statement not in epilogues:
            return node
        epilogue, starts = epilogues[node.statement], context.calls[node.statement].starts
        elements = (affine_element(operand.access, node.iterators) for operand in epilogue.operands)
        places = (AddressOf(in_box(each, starts, node.counters)) for each in elements)
        operands = AddressOf(Compound(f"struct {epilogue.prefix}_operands", tuple(places)))
        told = node.with_arguments(last=at_all(node.counters, epilogue.last), operands=operands)
        return replace(told, definitions=(*node.definitions, *functions[node.statement]))

    return mapped(ir, changed) if epilogues else ir


@dataclass(frozen=True)
class _Functions:
    """What an epilogue needs at file scope. Its operands are pointers ``x0``, ``x1`` and so on there."""

    epilogue: EpilogueFacts
    #: whether results are rounded to bfloat16 by instructions, where there are such
    rounds: bool

    def definitions(self) -> tuple[Definition, ...]:
        return self._structure, *self._tables, self._finished, self._after_column, self._after

    @property
    def _prefix(self) -> str:
        return self.epilogue.prefix

    @cached_property
    def _pointers(self) -> tuple[tuple[str, str], ...]:
        """The type and the name of each operand."""
        return tuple(
            (f"{'' if each.written else 'const '}{each.element} *", f"x{number}")
            for number, each in enumerate(self.epilogue.operands)
        )

    @property
    def _structure(self) -> Structure:
        return Structure(f"{self._prefix}_operands", self._pointers)

    @property
    def _tables(self) -> tuple[Table, ...]:
        """Where each row of columns begins in an operand, in elements from the first."""
        operands = () if self.epilogue.linear else self.epilogue.operands
        return tuple(Table(f"{self._prefix}_rows{number}", each.rows) for number, each in enumerate(operands))

    @property
    def _loops(self) -> Body:
        """The statements on the rows of a column."""
        statements = with_common_values(self._statements)
        store = rounding_store(statements, _ROW.name, NARROW) if self.rounds else None
        return (self._loop_of(statements) if store is None else self._rounded(statements[:-1], store),)

    def _rounded(self, statements: Body, store: Assign) -> For:
        """The statements on so many rows at a time as a buffer holds, whose results are rounded behind them."""
        part, last, floats = Name("part"), Name("last"), Name("polydl_rounded")
        rounding = rounding_of(store)
        loop = self._loop_of((*statements, kept_as_float(store, rounding.value, floats.name, _ROW.name, part)))
        pragma = Pragma("simd", simdlen=self.epilogue.vector_bytes // self._accumulator_bytes)
        end = linear([(1, part), (1, Integer(_BUFFER))])
        to = AddressOf(substituted(store.target, {_ROW.name: part}))
        body = (
            _constants((last, Conditional(Binary("<", end, _ROWS), end, _ROWS))),
            Declare("float", (Variable(floats.name, (_BUFFER,)),), alignment=ALIGNMENT),
            replace(loop, first=part, condition=Binary("<", _ROW, last), pragma=pragma),
            Evaluate(
                Apply(rounding.function, (to, floats, linear([(1, last), (-1, part)]), *rounding.bounds.values()))
            ),
        )
        return For(part.name, Integer(0), Binary("<", part, _ROWS), body, step=Integer(_BUFFER), type="long")

    def _loop_of(self, statements: Body) -> For:
        """A loop over the rows of a column, in whole vectors of narrow elements where such are written."""
        widest = max(each.element_bytes for each in self.epilogue.operands)
        least = narrowest(self.epilogue.operands)
        lane = least if least < self._accumulator_bytes else widest
        begin = Declare(self.epilogue.accumulator, (Variable(_ELEMENT.name, initial=Element("sums", (_ROW,))),))
        body = (begin, *statements, *self._stored)
        pragma = Pragma("simd", simdlen=self.epilogue.vector_bytes // lane)
        return For(_ROW.name, Integer(0), Binary("<", _ROW, _ROWS), body, type="long", pragma=pragma)

    @property
    def _accumulator_bytes(self) -> int:
        return REAL_BYTES.get(self.epilogue.accumulator, 4)

    @property
    def _stored(self) -> Body:
        """Stores the element of the output, if anybody reads it."""
        outputs = [f"x{number}" for number, each in enumerate(self.epilogue.operands) if each.output and each.written]
        return tuple(Assign(Element(name, (_ROW,)), "=", _ELEMENT) for name in outputs)

    @property
    def _statements(self) -> Body:
        """The statements on the element of the output and on what the pointers point to."""
        names = [Name(iterator) for iterator in self.epilogue.iterators]
        places: dict[Element, Expr] = {}
        for number, operand in enumerate(self.epilogue.operands):
            row = linear([(operand.along_m, _ROW)])
            at_row = Element(f"x{number}", (row,))
            places[affine_element(operand.access, names)] = _ELEMENT if operand.output else at_row
        statements = tuple(
            with_values(replace(each, statement=""), _with_own_conversions) for each in self.epilogue.statements
        )
        return with_elements_of(statements, lambda element: places[element])

    @property
    def _finished(self) -> Function:
        """Finishes rows of a column. What is called for registers must be part of their block."""
        parameters = (self._sums, *self._pointers, ("long", _ROWS.name))
        return Function(f"{self._prefix}_finished", parameters, self._loops, inlining="always")

    @property
    def _sums(self) -> tuple[str, str]:
        return f"const {self.epilogue.accumulator} *", _SUMS.name

    @property
    def _given(self) -> tuple[tuple[str, str], ...]:
        return (f"const struct {self._prefix}_operands *", "operands"), self._sums

    @property
    def _finish(self) -> Evaluate:
        pointers = (Name(name) for _, name in self._pointers)
        return Evaluate(Apply(f"{self._prefix}_finished", (_SUMS, *pointers, _ROWS)))

    @property
    def _begin(self) -> Declare:
        """Where the column with the number ``first`` is: columns lie alike along a row of them."""
        if self.epilogue.linear:
            return _constants((_COLUMN, _FIRST))
        columns = Integer(self.epilogue.columns)
        return _constants((_ROW_OF_COLUMNS, Binary("/", _FIRST, columns)), (_COLUMN, Binary("%", _FIRST, columns)))

    @property
    def _starts(self) -> tuple[Declare, ...]:
        """The pointers to the operands of the first row in that column."""
        made = []
        for number, ((kind, name), operand) in enumerate(zip(self._pointers, self.epilogue.operands, strict=True)):
            terms: list[tuple[int, Expr]] = [(1, Member("operands", name))]
            if not self.epilogue.linear:
                terms.append((1, Element(f"{self._prefix}_rows{number}", (_ROW_OF_COLUMNS,))))
            terms += [(operand.along_n, _COLUMN), (operand.along_m, _FIRST_ROW)]
            made.append(Declare(kind, (Variable(name, initial=linear(terms)),)))
        return tuple(made)

    @property
    def _after_column(self) -> Function:
        most = self.epilogue.vector_bytes // self._accumulator_bytes
        # Nothing but the output is written.
        alone = all(each.output == each.written for each in self.epilogue.operands)
        finished = (alone and distributed(self._loop_of(self._statements), most)) or (self._finish,)
        parameters = (*self._given, *_longs(_FIRST, _FIRST_ROW, _ROWS))
        body = (self._begin, *self._starts, *finished)
        return Function(f"{self._prefix}_after_column", parameters, body, inlining="always")

    @property
    def _after(self) -> Function:
        length: Expr = _COLUMNS
        if not self.epilogue.linear:
            left = Binary("-", Integer(self.epilogue.columns), _COLUMN)
            length = Conditional(Binary("<", _COLUMNS, left), _COLUMNS, left)
        moves: Body = tuple(
            Assign(Name(name), "+=", Integer(operand.along_n))
            for (_, name), operand in zip(self._pointers, self.epilogue.operands, strict=True)
            if operand.along_n
        )
        column = Name("column")
        row: Body = (
            self._begin,
            _constants((_LENGTH, length)),
            *self._starts,
            For(
                column.name,
                Integer(0),
                Binary("<", column, _LENGTH),
                (self._finish,),
                type="long",
                along=(Assign(_SUMS, "+=", _APART), *moves),
            ),
            Assign(_FIRST, "+=", _LENGTH),
            Assign(_COLUMNS, "-=", _LENGTH),
        )
        parameters = (*self._given, *_longs(_APART, _FIRST, _COLUMNS, _FIRST_ROW, _ROWS))
        return Function(f"{self._prefix}_after", parameters, (While(Binary(">", _COLUMNS, Integer(0)), row),))


def _with_own_conversions(value: Expr) -> Expr:
    """The value with conversions of bfloat16s that stand at file scope before the source's."""
    changed = with_parts(value, _with_own_conversions)
    own = {TO_FLOAT: WIDEN, FROM_FLOAT: NARROW}
    match changed:
        case Apply(function) if function in own:
            return replace(changed, function=own[function])
    return changed


def _constants(*values: tuple[Name, Expr]) -> Declare:
    return Declare("long", tuple(Variable(name.name, initial=value) for name, value in values), constant=True)


def _longs(*names: Name) -> Sequence[tuple[str, str]]:
    return [("long", each.name) for each in names]
