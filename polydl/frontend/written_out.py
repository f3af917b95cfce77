"""C that pet doesn't read, written out as C that it reads, of the same meaning.

``x %= y``, ``x <<= y`` and ``x >>= y`` are plain assignments, ``sizeof`` and character constants are numbers, the block
of ``do { ... } while (0)`` stands for itself, and so do the name of an array in parentheses, ``(a)[i]``, and what has a
sign that changes nothing, ``+x``. In such a block ``if (c) break;`` is the opposite condition for what follows. Runs in
the child process that holds libclang.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any

from clang.cindex import CursorKind, TypeKind

from polydl.frontend.assignments import matching, quoted
from polydl.frontend.c_types import literal
from polydl.frontend.data_integers import index_expressions
from polydl.frontend.function_reader import FunctionReader
from polydl.frontend.loop_headers import integer_value
from polydl.frontend.macro_definitions import macro_definitions, reachable
from polydl.frontend.operators import COMPLEMENT, ON_BITS, PLUS, binary_operator, unary_operator
from polydl.frontend.row_pointers import inside
from polydl.frontend.source import Edit, without_comments
from polydl.frontend.walk import preorder, text_offset

_COMPOUND = ("%=", "<<=", ">>=")
_NUMBERS = (CursorKind.CHARACTER_LITERAL, CursorKind.CXX_UNARY_EXPR)
_TRANSPARENT = (CursorKind.PAREN_EXPR, CursorKind.UNEXPOSED_EXPR)
_JUMPS = (CursorKind.BREAK_STMT, CursorKind.CONTINUE_STMT)
_LOOPS = (CursorKind.FOR_STMT, CursorKind.WHILE_STMT, CursorKind.DO_STMT, CursorKind.SWITCH_STMT)
_BARE = re.compile(r"(?<![\w\])])[ \t]*(?P<open>\()[ \t]*\w+(?:[ \t]*\[[^][]*\])*[ \t]*(?P<close>\))(?=[ \t]*\[)")
# The first character whose number may be negative.
_SIGN = 128
_WORD = re.compile(r"[A-Za-z_]\w*")
_ONCE = re.compile(r"(?P<do>[\s\\]*do)\b.*(?P<end>\bwhile\s*\(\s*0\s*\))[\s\\]*", re.DOTALL)


def written_out_edits(reader: FunctionReader) -> list[Edit]:
    """Edits that write out what can be; none is left when there are no edits."""
    text = without_comments(reader.text)
    cursors = preorder(reader.function)
    edits: dict[int, Edit] = {}
    # Steps of loops that can't be read are shown as they are written.
    steps = {
        part.hash for each in cursors if each.kind == CursorKind.FOR_STMT for part in list(each.get_children())[:-1]
    }
    for cursor in cursors:
        if cursor.kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR and cursor.hash not in steps:
            edits.update((edit.start, edit) for edit in _compound(cursor, text))
        elif cursor.kind == CursorKind.DO_STMT:
            edits.update((edit.start, edit) for edit in _once(cursor, reader.function, text))
        elif cursor.kind == CursorKind.UNARY_OPERATOR and unary_operator(cursor) == PLUS:
            edits.update((edit.start, edit) for edit in _signed(cursor, text))
    if not edits:
        edits.update((edit.start, edit) for edit in _bare_arrays(cursors, text))
    return list(edits.values())


def number_edits(reader: FunctionReader) -> list[Edit]:
    """Edits that put numbers in the place of ``sizeof``, of characters, and of constants with operators on bits.

    The latter where loops, conditions or subscripts depend on them. None is left when there are no edits.
    """
    numbers = {each.hash for each in preorder(reader.function) if each.kind in _NUMBERS}
    bits = {each.hash for root, _ in index_expressions(reader.function) for each in preorder(root) if _is_on_bits(each)}
    if not numbers and not bits:
        return []
    text = without_comments(reader.text)
    around: set[int] = set()
    _holds(reader.function, numbers | bits, around)
    edits = [*_numbers(reader.function, None, around, text)]
    if numbers:
        edits += _characters_of_macros(reader.text)
    return list({edit.start: edit for edit in edits}.values())


def _is_on_bits(cursor: Any) -> bool:
    if cursor.kind == CursorKind.UNARY_OPERATOR:
        return unary_operator(cursor) == COMPLEMENT
    return cursor.kind == CursorKind.BINARY_OPERATOR and binary_operator(cursor) in ON_BITS


def _compound(cursor: Any, text: str) -> Iterator[Edit]:
    left, right = cursor.get_children()
    target = quoted(left, text)
    start, end = left.extent.end.offset, right.extent.start.offset
    operator = text[start:end].strip()
    if target is not None and operator in _COMPOUND:
        yield Edit(start, end, f" = {target} {operator[:-1]} (")
        yield Edit(right.extent.end.offset, right.extent.end.offset, ")")


def _signed(cursor: Any, text: str) -> Iterator[Edit]:
    """``+x`` without its sign, or as ``(0 + x)`` where the sign makes an ``int`` of a narrower integer."""
    start, end = cursor.extent.start.offset, cursor.extent.end.offset
    # Else a macro stands there.
    if not text.startswith("+", start):
        return
    (operand,) = cursor.get_children()
    if inside(operand).type.get_canonical().kind == cursor.type.get_canonical().kind:
        yield Edit(start, start + 1, " ")
    else:
        yield Edit(start, start + 1, "(0 + ")
        yield Edit(end, end, ")")


def _bare_arrays(cursors: Sequence[Any], text: str) -> Iterator[Edit]:
    """Names of arrays without the parentheses that are round them, in the text or in the macros that write these."""
    names: set[str] = set()
    for cursor in cursors:
        base = next(iter(cursor.get_children())) if cursor.kind == CursorKind.ARRAY_SUBSCRIPT_EXPR else cursor
        while base.kind == CursorKind.UNEXPOSED_EXPR:
            base = next(iter(base.get_children()))
        if cursor.kind != CursorKind.ARRAY_SUBSCRIPT_EXPR or base.kind != CursorKind.PAREN_EXPR:
            continue
        inner = base
        while inner.kind in _TRANSPARENT:
            inner = next(iter(inner.get_children()))
        if inner.kind not in (CursorKind.DECL_REF_EXPR, CursorKind.ARRAY_SUBSCRIPT_EXPR):
            return
        start = text_offset(base.extent.start)
        closing = matching(text, start) if text.startswith("(", start) else None
        if closing is not None:
            yield from (Edit(place, place + 1, " ") for place in (start, closing))
        elif (word := _WORD.match(text, start)) is not None:
            names.add(word[0])
    definitions = macro_definitions(text) if names else []
    names = reachable(names, definitions)
    for definition in definitions:
        for array in _BARE.finditer(definition.body) if definition.name in names else ():
            places = [definition.start + array.start(part) for part in ("open", "close")]
            yield from (Edit(place, place + 1, " ") for place in places)


def _holds(cursor: Any, parts: set[int], around: set[int]) -> bool:
    """Whether a cursor is one of these ``parts``, by their hashes, or has one inside; adds it ``around`` them then."""
    inner = [_holds(child, parts, around) for child in cursor.get_children()]
    holds = cursor.hash in parts or any(inner)
    if holds:
        around.add(cursor.hash)
    return holds


def _numbers(cursor: Any, outer: Any | None, around: set[int], text: str) -> Iterator[Edit]:
    """Constant expressions among the cursors with these hashes, inside of the operation ``outer``."""
    # Memory that is allocated is refused, in the source's words.
    allocates = cursor.kind == CursorKind.CALL_EXPR and cursor.type.get_canonical().kind == TypeKind.POINTER
    if allocates or cursor.hash not in around:
        return
    start, end = cursor.extent.start.offset, cursor.extent.end.offset
    value = integer_value(cursor) if cursor.kind.is_expression() else None
    if value is None:
        inner = outer if cursor.kind in _TRANSPARENT else cursor
        for child in cursor.get_children():
            yield from _numbers(child, inner, around, text)
        return
    # All parts of what a macro stands for have the extent of the macro's call.
    part = outer is not None and (outer.extent.start.offset, outer.extent.end.offset) == (start, end)
    if not part and text_offset(cursor.extent.start) == start:
        yield Edit(start, end, literal(value, cursor.type))


def _characters_of_macros(text: str) -> Iterator[Edit]:
    for definition in macro_definitions(text):
        for start, constant in definition.strings():
            value = _character(constant)
            if value is not None:
                yield Edit(start, start + len(constant), f"({value})")


def _character(constant: str) -> int | None:
    """The number of a character constant; None for a string, and where that number depends on the compiler."""
    if not re.fullmatch(r"'(?:[ -&(-\[\]-~]|\\[abfnrtv\\'\"]|\\[0-7]{1,3}|\\x[\da-fA-F]{1,2})'", constant):
        return None
    digits = constant[3:-1] if constant.startswith("'\\x") else ""
    value = int(digits, 16) if digits else ord(ast.literal_eval(constant))
    return value if value < _SIGN else None


def _once(loop: Any, function: Any, text: str) -> Iterator[Edit]:
    """Without ``do`` and ``while (0)``, in the text or in the macro that the loop comes from."""
    body, condition = loop.get_children()
    if integer_value(condition) != 0:
        return
    start, end = loop.extent.start.offset, loop.extent.end.offset
    in_text = text.startswith("do", start) and body.kind == CursorKind.COMPOUND_STMT
    if any(_jumps(body)):
        if in_text:
            yield from _under_the_opposite(body, text)
        return
    if in_text:
        # Behind a block, a semicolon is a statement of its own, and an `else` would belong to nothing.
        semicolon = re.match(r"\s*;(?=\s*else\b)", text[end:])
        yield Edit(start, start + 2, "  ")
        yield Edit(body.extent.end.offset, end + (semicolon.end() if semicolon is not None else 0), "")
        return
    name = _WORD.match(text, start)
    inside = text[function.extent.start.offset : function.extent.end.offset]
    if name is None or re.search(rf"\b{name[0]}\b[^;]*;\s*else\b", inside):
        return
    for definition in macro_definitions(text):
        once = _ONCE.fullmatch(definition.body) if definition.name == name[0] else None
        if once is not None:
            do, end = definition.start + once.end("do"), definition.start + once.start("end")
            yield Edit(do - 2, do, "  ")
            yield Edit(end, definition.start + once.end("end"), "")


def _jumps(statement: Any) -> Iterator[Any]:
    """The jumps in a statement that end the loop around it, or its iteration, but not those of loops inside."""
    if statement.kind in _JUMPS:
        yield statement
    elif statement.kind not in _LOOPS:
        for child in statement.get_children():
            yield from _jumps(child)


def _under_the_opposite(body: Any, text: str) -> Iterator[Edit]:
    """``if (c) break; x = y;`` as ``if (!(c)) { x = y; }``, up to the end of a block that runs once.

    One inside of another condition is written so where nothing follows that.
    """
    statements = list(body.get_children())
    for statement in statements:
        jumps = list(_jumps(statement))
        if not jumps:
            continue
        parts = list(statement.get_children()) if statement.kind == CursorKind.IF_STMT else []
        start, end = statement.extent.start.offset, statement.extent.end.offset
        opening = text.find("(", start)
        closing = matching(text, opening)
        if len(parts) != 2 or closing is None or text[start:opening].strip() != "if":
            return
        jump = re.fullmatch(r"\s*(?:(?:break|continue)|\{\s*(?:break|continue)\s*;\s*\})\s*", text[closing + 1 : end])
        semicolon = re.match(r"\s*;", text[end:])
        if jump is None and statement == statements[-1] and parts[1].kind == CursorKind.COMPOUND_STMT:
            yield from _under_the_opposite(parts[1], text)
        if jump is None or (semicolon is None and "{" not in jump[0]):
            return
        behind = end + semicolon.end() if semicolon is not None else end
        last = body.extent.end.offset - 1
        yield Edit(opening, opening, "(!")
        yield Edit(closing + 1, behind, ") {")
        yield Edit(last, last, "}")
        return
