"""Elements that are named by sums of pointers, as ones with subscripts: ``*(a + i * n + j)``, ``(a + 1)[i]``, ``*out``.

Runs in the child process that holds libclang.
"""

from __future__ import annotations

from typing import Any

from clang.cindex import CursorKind, TypeKind

from polydl.frontend.function_reader import FunctionReader
from polydl.frontend.operators import DEREFERENCE, unary_operator
from polydl.frontend.row_pointers import elements_of, inside, part_of, written
from polydl.frontend.source import Edit, without_comments
from polydl.frontend.walk import preorder


def sum_edits(reader: FunctionReader) -> list[Edit]:
    """Edits that put a subscript in the place of each such sum, those inside of others first.

    What a macro expands to is left alone, since it does not stand in the text.
    """
    text = without_comments(reader.text)
    edits: list[Edit] = []
    for cursor in reversed(preorder(reader.function)):
        start, end = cursor.extent.start.offset, cursor.extent.end.offset
        if any(start <= edit.start and edit.end <= end for edit in edits):
            continue
        subscript = _subscript(cursor, reader, text)
        if subscript is not None:
            edits.append(Edit(start, end, subscript))
    return edits


def _subscript(cursor: Any, reader: FunctionReader, text: str) -> str | None:
    """An element as an array with its subscript; None for anything but a sum with a pointer."""
    start = text[cursor.extent.start.offset : cursor.extent.start.offset + 1]
    index: list[str | None] = []
    if cursor.kind == CursorKind.UNARY_OPERATOR and start == "*" and unary_operator(cursor) == DEREFERENCE:
        (base,) = cursor.get_children()
    elif cursor.kind == CursorKind.ARRAY_SUBSCRIPT_EXPR and start == "(":
        base, place = cursor.get_children()
        index = [written(place, text)]
        if inside(base).kind in (CursorKind.DECL_REF_EXPR, CursorKind.ARRAY_SUBSCRIPT_EXPR):
            return None
    else:
        return None
    if cursor.type.get_canonical().kind in (TypeKind.FUNCTIONPROTO, TypeKind.FUNCTIONNOPROTO):
        return None
    part = part_of(base, elements_of(base.type), reader, text)
    if part is None or written(cursor, text) is None or None in index:
        return None
    terms = [f"({term})" for term in (*part.offsets, *index)]
    return f"{part.array}[{' + '.join(terms) or '0'}]"
