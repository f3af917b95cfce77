"""Functions that compute an index, put where they are called.

With ``static int at(int i, int j) { return i * 64 + j; }``, ``a[at(i, k)]`` is ``a[(i * 64 + k)]``; pet takes what a
call returns for data. A function may choose what it returns: ``if (i < 0) return 0; return i;`` is a conditional
expression. Calls are replaced in subscripts, in loops' headers and conditions, and in what is assigned to
integers that these depend on; so are those of ``abs``. Runs in the child process that holds libclang.
"""

from __future__ import annotations

import re
from typing import Any

from clang.cindex import CursorKind, TypeKind

from polydl.frontend.data_integers import LOADS, index_expressions
from polydl.frontend.function_reader import FunctionReader
from polydl.frontend.operators import MODULAR, binary_operator
from polydl.frontend.purity import impurity
from polydl.frontend.returned import returned, whole
from polydl.frontend.source import Edit, without_comments
from polydl.frontend.walk import WIDE, key_of, modular_parts, preorder

# Narrower parameters would wrap around. Arguments of narrower types are converted to these.
_TAKEN = (*WIDE, TypeKind.INT, TypeKind.UINT)
_PROMOTED = (TypeKind.CHAR_S, TypeKind.CHAR_U, TypeKind.SCHAR, TypeKind.UCHAR, TypeKind.SHORT, TypeKind.USHORT)
_INSIDE = (
    *(CursorKind.BINARY_OPERATOR, CursorKind.CONDITIONAL_OPERATOR, CursorKind.DECL_REF_EXPR, CursorKind.TYPE_REF),
    *(CursorKind.INTEGER_LITERAL, CursorKind.PAREN_EXPR, CursorKind.UNEXPOSED_EXPR, CursorKind.CSTYLE_CAST_EXPR),
)
# Of the C library.
_MAGNITUDES = ("abs", "labs", "llabs")


def index_edits(reader: FunctionReader) -> list[Edit]:
    """Edits that put what such functions return in the place of the innermost of their calls."""
    text = without_comments(reader.text)
    edits: dict[int, Edit] = {}
    for root, is_subscript in index_expressions(reader.function):
        modular = modular_parts(root) if is_subscript else set()
        for call in preorder(root):
            if call.kind != CursorKind.CALL_EXPR:
                continue
            written = _replaced(call, call.hash in modular, reader, text) or _magnitude(call, reader, text)
            if written is not None:
                start, end = call.extent.start.offset, call.extent.end.offset
                edits[start] = Edit(start, end, written)
    return list(edits.values())


def _replaced(call: Any, is_modular: bool, reader: FunctionReader, text: str) -> str | None:
    """What takes the place of a call; None for one that stays. Modulo 2^64 it may have another type."""
    function = call.referenced
    arguments = list(call.get_arguments())
    if (
        function is None
        or function.kind != CursorKind.FUNCTION_DECL
        or impurity(function, reader.main_file) is not None
    ):
        return None
    body = returned(function.get_definition(), text, _is_part)
    parameters = list(function.get_arguments())
    if body is None or len(arguments) != len(parameters):
        return None
    modular = is_modular and not body.chosen and all(map(_is_modular, body.parts))
    types = [each.get_canonical() for each in (function.result_type, *(each.type for each in parameters))]
    given = [each.type.get_canonical().kind for argument in arguments for each in preorder(argument)]
    if any(type_.kind not in _TAKEN for type_ in types) or any(kind not in (*_TAKEN, *_PROMOTED) for kind in given):
        return None
    # An argument that calls is replaced first.
    if any(each.kind == CursorKind.CALL_EXPR for argument in arguments for each in preorder(argument)):
        return None
    written = {
        parameter.spelling: text[argument.extent.start.offset : argument.extent.end.offset]
        for parameter, argument in zip(parameters, arguments, strict=True)
    }
    # What the numbers of parameters and of the result are converted to.
    result, *casts = ["" if modular else f"({type_.spelling})" for type_ in types]
    start, end = call.extent.start.offset, call.extent.end.offset
    stands = re.fullmatch(rf"{re.escape(function.spelling)}\s*\(.*\)", text[start:end], re.DOTALL)
    if stands is None or not all(whole(each) for each in written.values()):
        return None
    variables = {each.spelling for each in body.parts if each.kind == CursorKind.DECL_REF_EXPR}
    if not variables <= written.keys() & set(body.words):
        # Another variable, or one behind a macro.
        return None
    values = {name: f"({cast}({value}))" for (name, value), cast in zip(written.items(), casts, strict=True)}
    inner = body.of(values, [result] * len(body.values) if body.chosen else [])
    return f"({result}({inner}))"


def _magnitude(call: Any, reader: FunctionReader, text: str) -> str | None:
    """``abs(i - 2)`` as a choice between the number and its negative; None for any other call, and for one of data."""
    arguments = list(call.get_arguments())
    if call.spelling not in _MAGNITUDES or len(arguments) != 1 or call.referenced.get_definition() is not None:
        return None
    parts = preorder(arguments[0])
    names = {key_of(each.referenced) for each in parts if each.kind == CursorKind.DECL_REF_EXPR and each.referenced}
    kinds = {each.type.get_canonical().kind for each in parts if each.kind.is_expression()}
    on_data = any(each.kind in LOADS for each in parts) or not names.isdisjoint(reader.data_integers)
    start, end = call.extent.start.offset, call.extent.end.offset
    written = re.fullmatch(rf"{call.spelling}\s*\((.*)\)", text[start:end], re.DOTALL)
    if on_data or written is None or not whole(written[1]) or not kinds.issubset((*_TAKEN, *_PROMOTED)):
        return None
    value = f"({call.type.get_canonical().spelling})({written[1]})"
    return f"(({value}) < 0 ? -({value}) : ({value}))"


def _is_modular(cursor: Any) -> bool:
    """Whether a part of an expression is the same modulo 2^64 in whatever type of 64 bits."""
    if cursor.kind == CursorKind.BINARY_OPERATOR:
        return binary_operator(cursor) in MODULAR
    return bool(cursor.kind != CursorKind.CONDITIONAL_OPERATOR)


def _is_part(cursor: Any) -> bool:
    """Whether what is returned may have such a part: parameters, constants, operators, and casts to wide types."""
    is_cast = cursor.kind == CursorKind.CSTYLE_CAST_EXPR
    return cursor.kind in _INSIDE and (not is_cast or cursor.type.get_canonical().kind in WIDE)
