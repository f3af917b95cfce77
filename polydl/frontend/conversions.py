"""Conversions between types of integers on the way to indices and bounds.

pet computes each operation in the type that its operands have, passes over their implicit conversions and takes casts
for data. The view that it reads therefore has no casts where they make no difference: ``a[(size_t)i * 8]`` needs none,
since sums and products are the same modulo 2^64. Elsewhere it has what pet computes as C does. In
``a[(size_t)(i - 1) % 40]``, -1 becomes the largest number of its type, whose remainder is another; ``0UL + (i - 1)`` is
that number. What ``floord`` divides by 1, a function of pet's, is a signed number. A macro's definition loses the casts
that make no difference wherever the function uses it. Runs in the child process that holds libclang.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from clang.cindex import CursorKind

from polydl.frontend.c_types import SUFFIXES, literal
from polydl.frontend.facts import SIGNED
from polydl.frontend.function_reader import FunctionReader
from polydl.frontend.integer_ranges import IntegerRanges, limits
from polydl.frontend.loop_headers import integer_value
from polydl.frontend.macro_definitions import macro_definitions, reachable
from polydl.frontend.operators import ASSIGN, LOGICAL, MINUS, MODULAR, binary_operator, unary_operator
from polydl.frontend.source import Edit, Enclosure
from polydl.frontend.walk import assignment_of, deciding_expressions, key_of, modular_parts, preorder, text_offset

# Whose results are the same modulo 2^64 whatever the type, or depend on truth alone.
_MODULAR = frozenset((*MODULAR, ASSIGN, *LOGICAL))
# Functions that pet knows, by either name.
_QUOTIENTS = ("floord", "intFloor")
_NOTHING = ("", "")
_INT, _LONG = 32, 64
_TRUTH = (0, 1)
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass
class Conversions:
    """What the view that pet reads has in the place of conversions."""

    #: operands of conversions, with what is put round them
    shown: list[Enclosure] = field(default_factory=list)
    #: start and end of the types in parentheses of casts, those in macros' definitions included
    casts: list[tuple[int, int]] = field(default_factory=list)
    #: numbers that take the place of macros
    constants: list[Edit] = field(default_factory=list)
    #: declares the function of pet's that they call; empty if they call none
    declaration: str = ""


def conversions(reader: FunctionReader) -> Conversions:
    """What the view that pet reads has in the place of a function's conversions.

    One that pet can't be shown, and that it would pass over, is added to the reader's constructs.
    """
    shown = _Shown(reader)
    for root, is_subscript in _roots(reader.function, reader.data_integers):
        shown.root(root, is_subscript)
    for cursor in preorder(reader.function):
        assignment = assignment_of(cursor)
        if assignment is not None and key_of(assignment[0]) in reader.data_integers:
            shown.data(*assignment)
    shown.result.casts += _casts_of_macros(reader, shown.needless)
    return shown.result


def _roots(function: Any, data: frozenset[str]) -> Iterator[tuple[Any, bool]]:
    """The expressions that decide which statements run and which elements they use, and whether they are subscripts.

    ``data`` are the keys of integers that hold data.
    """
    for expression, kind in deciding_expressions(function):
        yield expression, kind == CursorKind.ARRAY_SUBSCRIPT_EXPR
    for cursor in preorder(function):
        assignment = assignment_of(cursor)
        if assignment is not None and limits(assignment[0].type) is not None and key_of(assignment[0]) not in data:
            yield assignment[1], False


class _Shown:
    """The conversions of a function that were read so far."""

    def __init__(self, reader: FunctionReader) -> None:
        self.result = Conversions()
        #: hashes of casts that make no difference, in the bodies of macros
        self.needless: set[int] = set()
        self._reader = reader
        self._ranges = IntegerRanges(reader.function)
        self._quotient = next((name for name in _QUOTIENTS if name not in reader.text), None)
        self._seen: set[int] = set()

    def root(self, root: Any, is_subscript: bool) -> None:
        """Read an expression that decides which statements run or which elements they use."""
        modular = modular_parts(root) if is_subscript else set()
        for each, outer in _within(root, None):
            if each.kind == CursorKind.UNARY_OPERATOR and each.hash not in self._seen:
                self._negated(each, outer, each.hash in modular)
        values = self._ranges.of(root)
        if values is not None and not values.exact and not is_subscript:
            self._all(root, wraps=True)
        for each in preorder(root):
            if each.kind == CursorKind.BINARY_OPERATOR and self._wraps(each):
                self._all(each, wraps=True)
        self._all(root, wraps=False)

    def _negated(self, operation: Any, outer: Any | None, is_modular: bool) -> None:
        """Show pet ``-1U`` as a difference: of a number with a sign it passes over the type.

        Where that is all that a macro stands for, it is the number. Modulo 2^64 the type makes no difference.
        """
        (start, end), to = _extent(operation), limits(operation.type)
        if unary_operator(operation) != MINUS or to is None or to[0] < 0:
            return
        self._seen.add(operation.hash)
        if self._reader.text.startswith("-", start) and text_offset(operation.extent.start) == start:
            self.result.shown.append(Enclosure(start, end, f"(0{_Integer.of(operation.type).suffix} "))
            return
        value = integer_value(operation)
        whole = self._reader.text[start:end].isidentifier() and (outer is None or _extent(outer) != (start, end))
        if value is not None and whole:
            self.result.constants.append(Edit(start, end, literal(value, operation.type)))
        elif not is_modular:
            remedy = f"write what the macro stands for in its place, or {SIGNED}"
            self._reader.refuse(operation, "an unsigned number wraps around where a macro negates it", remedy)

    def data(self, declaration: Any, value: Any) -> None:
        """Read what is assigned to an integer that holds data: a cast hides numbers from pet that types limit."""
        start, end = _extent(value)
        cast = any(each.kind == CursorKind.CSTYLE_CAST_EXPR for each in preorder(value))
        whole = _assigned_whole(self._reader.text, start, end)
        if whole and not cast and self._ranges.limited(value, declaration.type):
            type_ = declaration.type.get_canonical().spelling
            self.result.shown.append(Enclosure(start, end, f"(({type_})(", "))"))

    def _wraps(self, operation: Any) -> bool:
        """Whether what an operation does to its operands depends on values that may wrap around."""
        if binary_operator(operation) in _MODULAR:
            return False
        operands = [self._ranges.of(each) for each in operation.get_children()]
        known = [each for each in operands if each is not None]
        return len(known) == len(operands) and not all(each.exact for each in known)

    def _all(self, root: Any, wraps: bool) -> None:
        """Show pet the casts of an expression, and where its values may wrap around, the implicit conversions."""
        for each, around in _within(root, None):
            written = each.kind == CursorKind.CSTYLE_CAST_EXPR
            if each.hash not in self._seen and (written or (wraps and each.kind == CursorKind.UNEXPOSED_EXPR)):
                self._seen.add(each.hash)
                self._show(each, around, written, wraps)

    def _show(self, conversion: Any, outer: Any | None, written: bool, wraps: bool) -> None:
        """The same of a conversion inside of the operation ``outer``."""
        children = list(conversion.get_children())
        values = self._ranges.of(children[-1]) if children else None
        to = limits(conversion.type)
        if values is None or to is None or to == _TRUTH:
            return
        operand = children[-1]
        fits = to[0] <= values.low and values.high <= to[1]
        if fits and not written:
            return
        around = self._around(_Integer.of(operand.type), _Integer.of(conversion.type), fits, wraps)
        text = self._reader.text
        stands = _cast_stands(conversion, operand, text) if written else _stands(operand, outer, text)
        start, end = _extent(operand)
        if around is None or not stands:
            if not written:
                message = f"a value may wrap around where it is converted to {conversion.type.get_canonical().spelling}"
                remedy = SIGNED if stands else f"write what the macro stands for in its place, or {SIGNED}"
                self._reader.refuse(conversion, message, remedy)
            elif around == _NOTHING:
                self.needless.add(conversion.hash)
            return
        if written:
            self.result.casts.append((conversion.extent.start.offset, start))
        if around != _NOTHING:
            self.result.shown.append(Enclosure(start, end, *around))
        if self._quotient is not None and self._quotient in around[0]:
            self.result.declaration = f"int {self._quotient}(int, int);"

    def _around(self, source: _Integer, to: _Integer, fits: bool, wraps: bool) -> tuple[str, str] | None:
        """What goes round the operand of a conversion, and as much as that; None if there is no such thing."""
        if source.signed and to.signed and fits:
            return _NOTHING
        if to.bits == _LONG and not wraps and (source.signed or not to.signed):
            return _NOTHING
        if not to.signed and source.bits <= to.bits:
            return f"(0{to.suffix} + (", "))"
        if self._quotient is None:
            return None
        kept = "" if to.signed and to.bits < _LONG else f"0{to.suffix} + "
        opening = f"({kept}{self._quotient}("
        if fits:
            return f"{opening}(", "), 1))"
        if to.bits == _LONG:
            return None
        # The remainder of the number, of which those above a half stand for negative ones.
        work, modulus = ("UL" if source.bits == _LONG else "U"), 1 << to.wrapped
        half = modulus // 2 if to.negative else 0
        return f"{opening}(0{work} + (", f") + {half}) % {modulus}UL, 1) - {half}L)"


@dataclass(frozen=True)
class _Integer:
    """A type of integers as arithmetic has it."""

    #: that arithmetic is done in
    bits: int
    #: whether that is signed
    signed: bool
    #: of constants of that type
    suffix: str
    #: bits of the type itself, at which it wraps around
    wrapped: int
    #: whether the type itself is signed
    negative: bool

    @staticmethod
    def of(type_: Any) -> _Integer:
        canonical = type_.get_canonical()
        bits, low = 8 * canonical.get_size(), limits(type_)
        negative = low is not None and low[0] < 0
        signed = negative or bits < _INT
        return _Integer(max(bits, _INT), signed, SUFFIXES.get(canonical.kind, ""), bits, negative)


def _casts_of_macros(reader: FunctionReader, needless: set[int]) -> Iterator[tuple[int, int]]:
    """Where casts in macros' definitions stand; those to a type of which all that the function uses are needless."""
    casts = [each for each in preorder(reader.function) if each.kind == CursorKind.CSTYLE_CAST_EXPR] if needless else []
    # Names of macros by type.
    left_out: dict[str, set[str]] = {}
    kept: dict[str, set[str]] = {}
    for cast in casts:
        name = _WORD.match(reader.text, text_offset(cast.extent.start))
        if name is not None:
            (left_out if cast.hash in needless else kept).setdefault(cast.type.spelling, set()).add(name[0])
    definitions = macro_definitions(reader.text) if left_out else []
    for type_, names in left_out.items():
        shown = reachable(names, definitions) - reachable(kept.get(type_, set()), definitions)
        written = re.compile(rf"(?<!sizeof)(?<!sizeof )\(\s*{re.escape(type_)}\s*\)")
        for definition in definitions:
            if definition.name in shown:
                found = written.finditer(definition.body)
                yield from ((definition.start + each.start(), definition.start + each.end()) for each in found)


def _within(cursor: Any, outer: Any | None) -> Iterator[tuple[Any, Any | None]]:
    """A cursor and all below it, each with the operation that it lies in, which is no parenthesis."""
    yield cursor, outer
    inner = outer if cursor.kind in (CursorKind.PAREN_EXPR, CursorKind.UNEXPOSED_EXPR) else cursor
    for child in cursor.get_children():
        yield from _within(child, inner)


def _extent(cursor: Any) -> tuple[int, int]:
    return cursor.extent.start.offset, cursor.extent.end.offset


def _assigned_whole(text: str, start: int, end: int) -> bool:
    """Whether a part of the text is all that an assignment in the text assigns."""
    return text[:start].rstrip().endswith("=") and text[end:].lstrip()[:1] in (";", ",")


def _stands(operand: Any, outer: Any | None, text: str) -> bool:
    """Whether an operand stands in the text itself, and is no part of what a macro stands for.

    What a macro stands for, and each part of that, has the extent of the macro's call.
    """
    start, end = _extent(operand)
    if text_offset(operand.extent.start) != start:
        return False
    return _assigned_whole(text, start, end) if outer is None else _extent(outer) != (start, end)


def _cast_stands(cast: Any, operand: Any, text: str) -> bool:
    """Whether a cast with its operand stands in the text itself."""
    (first, _), (start, end) = _extent(cast), _extent(operand)
    type_ = text[first:start].strip()
    inside = text_offset(operand.extent.start) == start or text[start:end].isidentifier()
    return text_offset(cast.extent.start) == first and type_[:1] == "(" and type_[-1:] == ")" and bool(inside)
