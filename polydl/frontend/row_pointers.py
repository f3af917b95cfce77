"""Local pointers that name a part of an array, as ones that pet doesn't see.

``const float *row = a + i * n;`` and then ``row[j]`` is ``a[(i * n) + (j)]``. A pointer that is set once, where it is
declared, and of which nothing but elements are used, is left out of the view that pet reads. Runs in the child process
that holds libclang.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from clang.cindex import CursorKind, StorageClass, TypeKind

from polydl.frontend.c_types import shape_of
from polydl.frontend.facts import ReplacedPointer
from polydl.frontend.function_reader import FunctionReader, Variable
from polydl.frontend.operators import ADD, ADDRESS_OF, SUBTRACT, binary_operator, unary_operator
from polydl.frontend.source import Edit, without_comments
from polydl.frontend.walk import initializer_of, key_of, preorder

_TRANSPARENT = (CursorKind.PAREN_EXPR, CursorKind.UNEXPOSED_EXPR)
_CHANGES = ("write", "update", "address")
# What an offset may be made of, so that it can be computed at each use.
_OFFSETS = (
    *(CursorKind.BINARY_OPERATOR, CursorKind.DECL_REF_EXPR, CursorKind.INTEGER_LITERAL, CursorKind.CSTYLE_CAST_EXPR),
    *(*_TRANSPARENT, CursorKind.TYPE_REF),
)


@dataclass(frozen=True)
class ArrayPart:
    """A place in an array that something points to."""

    #: an array or a pointer, or an element of one that is an array, as it is written
    array: str
    #: what is added to the subscript, as it is written
    offsets: tuple[str, ...]
    #: the array and all variables of the offsets
    variables: tuple[Variable, ...]


def pointer_edits(reader: FunctionReader) -> tuple[list[Edit], list[ReplacedPointer]]:
    """Edits that put elements of arrays in the place of elements of such pointers, and the pointers.

    A declaration of several is left alone unless all of them can go.
    """
    text = without_comments(reader.text)
    cursors = preorder(reader.function)
    uses = _uses(cursors)
    edits: list[Edit] = []
    replaced: list[ReplacedPointer] = []
    for statement in cursors:
        if statement.kind != CursorKind.DECL_STMT or not text[: statement.extent.start.offset].rstrip().endswith(
            ("{", "}", ";")
        ):
            continue
        declared = list(statement.get_children())
        each = [_replacement(cursor, reader, text, uses.get(key_of(cursor), [])) for cursor in declared]
        whole = [one for one in each if one is not None]
        start, end = statement.extent.start.offset, statement.extent.end.offset
        if not whole or len(whole) < len(each) or not text[start:end].endswith(";"):
            continue
        edits.append(Edit(start, end, ""))
        for pointer, changes in whole:
            edits += changes
            replaced.append(pointer)
    return edits, replaced


def _uses(cursors: list[Any]) -> Mapping[str, list[Any]]:
    """The elements of each variable, by its key."""
    uses: dict[str, list[Any]] = {}
    for cursor in cursors:
        if cursor.kind == CursorKind.ARRAY_SUBSCRIPT_EXPR:
            base = inside(next(iter(cursor.get_children())))
            if base.kind == CursorKind.DECL_REF_EXPR and base.referenced is not None:
                uses.setdefault(key_of(base.referenced), []).append(cursor)
    return uses


def _replacement(
    cursor: Any, reader: FunctionReader, text: str, elements: list[Any]
) -> tuple[ReplacedPointer, list[Edit]] | None:
    """A pointer and the edits of its elements; None unless it is set once and elements alone are used."""
    variable = reader.variables.get(key_of(cursor))
    is_pointer = cursor.kind == CursorKind.VAR_DECL and cursor.type.get_canonical().kind == TypeKind.POINTER
    if variable is None or not is_pointer or cursor.storage_class == StorageClass.STATIC:
        return None
    part = _part(cursor, reader, text)
    if part is None or len(elements) != len(variable.references) or not _lasts(variable, part, reader, text):
        return None
    edits: list[Edit] = []
    for element in elements:
        name, index = element.get_children()
        start, stop = name.extent.start.offset, name.extent.start.offset + len(variable.name)
        first, last = index.extent.start.offset, index.extent.end.offset
        closing = text.find("]", last)
        if text[start:stop] != variable.name or text[stop:first].strip() != "[" or text[last:closing].strip():
            return None
        edits.append(Edit(start, stop, part.array))
        if part.offsets:
            edits.append(Edit(first, first, "".join(f"({offset}) + " for offset in part.offsets) + "("))
            edits.append(Edit(last, last, ")"))
    places = tuple(element.extent.start.offset for element in elements)
    return ReplacedPointer(variable.name, variable.offset, places), edits


def _part(cursor: Any, reader: FunctionReader, text: str) -> ArrayPart | None:
    """What a pointer is set to where it is declared; None for anything but a place in an array of its own type."""
    value = initializer_of(cursor)
    return None if value is None else part_of(value, elements_of(cursor.type), reader, text)


def part_of(value: Any, elements: str, reader: FunctionReader, text: str) -> ArrayPart | None:
    """The place in an array that an expression points to, if its elements have that type; None for anything else."""
    value = inside(value)
    if value.kind in (CursorKind.DECL_REF_EXPR, CursorKind.ARRAY_SUBSCRIPT_EXPR):
        name = written(value, text)
        variables = _variables(value, reader, arrays=1)
        if name is None or not variables or elements_of(value.type) != elements:
            return None
        return ArrayPart(name, (), variables)
    operands = list(value.get_children())
    negative = False
    if value.kind == CursorKind.UNARY_OPERATOR and unary_operator(value) == ADDRESS_OF:
        element = inside(operands[0])
        if element.kind != CursorKind.ARRAY_SUBSCRIPT_EXPR:
            return None
        operands = list(element.get_children())
    elif value.kind != CursorKind.BINARY_OPERATOR or binary_operator(value) not in (ADD, SUBTRACT):
        return None
    elif binary_operator(value) == SUBTRACT:
        negative = True
    elif elements_of(operands[0].type) == "":
        operands.reverse()
    base, offset = operands
    part, term = part_of(base, elements, reader, text), written(offset, text)
    variables = _variables(offset, reader)
    if part is None or term is None or variables is None:
        return None
    term = f"-({term})" if negative else term
    return replace(part, offsets=(*part.offsets, term), variables=(*part.variables, *variables))


def _variables(cursor: Any, reader: FunctionReader, arrays: int = 0) -> tuple[Variable, ...] | None:
    """The variables of an offset, or of an array and its subscripts; None if anything else is in there."""
    allowed = (*_OFFSETS, CursorKind.ARRAY_SUBSCRIPT_EXPR) if arrays else _OFFSETS
    found: list[Variable] = []
    for each in preorder(cursor):
        if each.kind not in allowed:
            return None
        if each.kind == CursorKind.DECL_REF_EXPR:
            variable = reader.variables.get(key_of(each.referenced)) if each.referenced is not None else None
            if variable is None:
                # A constant of an enumeration.
                return None
            found.append(variable)
    integers = [variable for variable in found if variable.shape.is_scalar_integer]
    return tuple(found) if len(found) - len(integers) == arrays else None


def _lasts(pointer: Variable, part: ArrayPart, reader: FunctionReader, text: str) -> bool:
    """Whether the part is the same wherever the pointer is known, and its words mean the same there."""
    scope = range(pointer.offset, pointer.scope_end)
    for variable in part.variables:
        changed = [each.offset for each in variable.references if each.role in _CHANGES]
        if variable.shape.extents and changed:
            return False
        if any(place in scope for place in changed):
            return False
    names = {variable.name for variable in part.variables}
    hides = any(other.name in names and other.offset in scope for other in reader.variables.values())
    return pointer.scope_end >= 0 and not hides and "#" not in text[scope.start : scope.stop]


def elements_of(type_: Any) -> str:
    """The type of the elements of a pointer or of an array, without ``const``; "" for another type."""
    canonical = type_.get_canonical()
    if canonical.kind == TypeKind.POINTER:
        inner = canonical.get_pointee()
    elif shape_of(canonical).extents:
        inner = canonical.element_type
    else:
        return ""
    return " ".join(word for word in str(inner.get_canonical().spelling).split() if word != "const")


def written(cursor: Any, text: str) -> str | None:
    """An expression as it stands in the text; None if it is not whole there."""
    words = " ".join(text[cursor.extent.start.offset : cursor.extent.end.offset].split())
    return words if words and words.count("(") == words.count(")") and "=" not in words else None


def inside(cursor: Any) -> Any:
    """An expression without parentheses and conversions around it."""
    while cursor.kind in _TRANSPARENT and len(children := list(cursor.get_children())) == 1:
        [cursor] = children
    return cursor
