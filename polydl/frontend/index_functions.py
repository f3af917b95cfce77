"""Functions that compute an index, put where they are called.

With ``static int at(int i, int j) { return i * 64 + j; }``, ``a[at(i, k)]`` is ``a[(i * 64 + k)]``; pet takes what a
call returns for data. Calls are replaced in subscripts, in loops' headers and conditions, and in what is assigned to
integers that these depend on; so are those of ``abs``. Runs in the child process that holds libclang.
"""

from __future__ import annotations

import re
from typing import Any

from clang.cindex import CursorKind, StorageClass, TypeKind

from polydl.frontend.data_integers import LOADS, index_expressions
from polydl.frontend.function_reader import FunctionReader
from polydl.frontend.operators import MODULAR, binary_operator
from polydl.frontend.purity import impurity
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
_WORD = re.compile(r"\b[A-Za-z_]\w*")


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
    body = _returned(function.get_definition(), text)
    parameters = list(function.get_arguments())
    if body is None or len(arguments) != len(parameters):
        return None
    modular = is_modular and all(_is_modular(each) for each in preorder(body))
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
    whole = re.fullmatch(rf"{re.escape(function.spelling)}\s*\(.*\)", text[start:end], re.DOTALL)
    if whole is None or not all(_whole(each) for each in written.values()):
        return None
    inner = text[body.extent.start.offset : body.extent.end.offset]
    variables = {each.spelling for each in preorder(body) if each.kind == CursorKind.DECL_REF_EXPR}
    if not variables <= written.keys() & set(_WORD.findall(inner)):
        # Another variable, or one behind a macro.
        return None
    values = {name: f"({cast}({value}))" for (name, value), cast in zip(written.items(), casts, strict=True)}
    return f"({result}({_WORD.sub(lambda word: values.get(word[0], word[0]), inner)}))"


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
    if on_data or written is None or not _whole(written[1]) or not kinds.issubset((*_TAKEN, *_PROMOTED)):
        return None
    value = f"({call.type.get_canonical().spelling})({written[1]})"
    return f"(({value}) < 0 ? -({value}) : ({value}))"


def _is_modular(cursor: Any) -> bool:
    """Whether a part of an expression is the same modulo 2^64 in whatever type of 64 bits."""
    if cursor.kind == CursorKind.BINARY_OPERATOR:
        return binary_operator(cursor) in MODULAR
    return bool(cursor.kind != CursorKind.CONDITIONAL_OPERATOR)


def _returned(definition: Any, text: str) -> Any | None:
    """The expression that is all that a function's body returns; None for any other function."""
    if definition is None or definition.storage_class not in (StorageClass.STATIC, StorageClass.NONE):
        return None
    blocks = [child for child in definition.get_children() if child.kind == CursorKind.COMPOUND_STMT]
    statements = list(blocks[0].get_children()) if blocks else []
    if len(statements) != 1 or statements[0].kind != CursorKind.RETURN_STMT:
        return None
    values = list(statements[0].get_children())
    parts = [each for value in values for each in preorder(value)]
    casts = [each.type.get_canonical().kind for each in parts if each.kind == CursorKind.CSTYLE_CAST_EXPR]
    if len(values) != 1 or any(each.kind not in _INSIDE for each in parts) or any(kind not in WIDE for kind in casts):
        return None
    start, end = values[0].extent.start.offset, values[0].extent.end.offset
    plain = text[statements[0].extent.start.offset : start].strip() == "return" and _whole(text[start:end])
    return values[0] if plain else None


def _whole(written: str) -> bool:
    """Whether an expression stands in the text by itself, and not in the words of a macro."""
    return bool(written.strip()) and written.count("(") == written.count(")") and "#" not in written
