"""The walk over libclang's tree. Runs in the child process that holds libclang."""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import CFUNCTYPE, byref, c_int, c_uint, py_object
from typing import Any

from clang.cindex import Cursor, CursorKind, SourceLocation, TypeKind, c_object_p, conf

from polydl.frontend.operators import ASSIGN, MINUS, MODULAR, PLUS, binary_operator, unary_operator

#: integers of 64 bits
WIDE = (TypeKind.LONG, TypeKind.LONGLONG, TypeKind.ULONG, TypeKind.ULONGLONG)
#: cursors that name a variable
OF_VARIABLES = (CursorKind.VAR_DECL, CursorKind.DECL_REF_EXPR)
_RECURSE = 2  # of enum CXChildVisitResult
# Which of their children decide: all of a loop's but its body, a condition, an index.
_DECIDING = {
    CursorKind.FOR_STMT: slice(-1),
    CursorKind.IF_STMT: slice(1),
    CursorKind.ARRAY_SUBSCRIPT_EXPR: slice(1, None),
}
_VISITOR = CFUNCTYPE(c_int, Cursor, Cursor, py_object)


def preorder(cursor: Any) -> list[Any]:
    """A cursor and all below it, parents before their children.

    ``Cursor.walk_preorder`` hands each of them through a generator per level, which for a sum of thousands of terms,
    that lie inside of one another, takes the square of their number.
    """
    cursors = [cursor]

    def visit(child: Any, _parent: Any, _data: Any) -> int:
        # As `Cursor.get_children` does, so that the unit lives as long as its cursors.
        child._tu = cursor._tu
        cursors.append(child)
        return _RECURSE

    conf.lib.clang_visitChildren(cursor, _VISITOR(visit), cursors)
    return cursors


def initializer_of(declaration: Any) -> Any | None:
    """What a variable is set to where it is declared; None if it isn't."""
    initializer = conf.lib.clang_Cursor_getVarDeclInitializer
    initializer.argtypes, initializer.restype = [Cursor], Cursor
    value = initializer(declaration)
    if conf.lib.clang_Cursor_isNull(value):
        return None
    # Cursors that libclang returns by value don't keep their translation unit alive.
    value._tu = declaration._tu
    return value


def assignment_of(cursor: Any) -> tuple[Any, Any] | None:
    """The declaration of the variable that a cursor gives a value, and the expression of it; None for any other cursor.

    That of a compound assignment is what it adds, multiplies with and so on.
    """
    if cursor.kind == CursorKind.VAR_DECL:
        value = initializer_of(cursor)
        return None if value is None else (cursor, value)
    compound = cursor.kind == CursorKind.COMPOUND_ASSIGNMENT_OPERATOR
    if compound or (cursor.kind == CursorKind.BINARY_OPERATOR and binary_operator(cursor) == ASSIGN):
        target, value = cursor.get_children()
        if target.kind == CursorKind.DECL_REF_EXPR and target.referenced is not None:
            return target.referenced, value
    return None


def deciding_expressions(function: Any) -> Iterator[tuple[Any, Any]]:
    """The expressions that decide which iterations and statements run and which elements they use.

    Each comes with the kind of the cursor that it is a part of: a loop, a condition or a subscript.
    """
    for cursor in preorder(function):
        if cursor.kind in _DECIDING:
            yield from ((child, cursor.kind) for child in list(cursor.get_children())[_DECIDING[cursor.kind]])


def modular_parts(index: Any) -> set[int]:
    """Hashes of the parts of an index, itself included, that only sums, products, choices and wide casts make it of.

    It is the same modulo 2^64 whatever the types of these are.
    """
    parts = {index.hash}
    sums = index.kind == CursorKind.BINARY_OPERATOR and binary_operator(index) in MODULAR
    signs = index.kind == CursorKind.UNARY_OPERATOR and unary_operator(index) in (PLUS, MINUS)
    wide = index.kind == CursorKind.CSTYLE_CAST_EXPR and index.type.get_canonical().kind in WIDE
    if sums or signs or wide or index.kind in (CursorKind.PAREN_EXPR, CursorKind.UNEXPOSED_EXPR):
        parts = parts.union(*map(modular_parts, index.get_children()))
    elif index.kind == CursorKind.CONDITIONAL_OPERATOR:
        _, *values = index.get_children()
        parts = parts.union(*map(modular_parts, values))
    return parts


def key_of(declaration: Any) -> str:
    """What tells a variable's declaration from all others of its file."""
    return str(declaration.get_usr()) + str(declaration.hash)


def stands_in(unit: Any, cursor: Any) -> bool:
    """Whether what is declared stands in the file itself, in no header.

    A name that a macro is expanded to stands where the macro does; ``clang_Location_isFromMainFile`` says that it
    stands elsewhere.
    """
    file = cursor.location.file
    return file is not None and file.name == unit.spelling


def text_offset(location: SourceLocation) -> int:
    """Where a place is in the text: of what a macro is given, there, and of what its body holds, where it is used.

    Later releases of libclang find the latter's spelling in the macro's definition, and earlier ones don't.
    """
    file, line, column, offset = c_object_p(), c_uint(), c_uint(), c_uint()
    references = (byref(part) for part in (file, line, column, offset))
    conf.lib.clang_getFileLocation(location, *references)
    return int(offset.value)
