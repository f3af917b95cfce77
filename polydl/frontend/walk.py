"""The walk over libclang's tree. Runs in the child process that holds libclang."""

from __future__ import annotations

from ctypes import CFUNCTYPE, c_int, py_object
from typing import Any

from clang.cindex import Cursor, conf

_RECURSE = 2  # of enum CXChildVisitResult
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
