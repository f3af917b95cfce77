"""Pointers that a Scop can't represent, with what to write in their place: what they point to, and one for another.

Runs in the child process that holds libclang.
"""

from __future__ import annotations

from typing import Any

from clang.cindex import CursorKind, TypeKind

from polydl.frontend.operators import ASSIGN, INCREMENTS, binary_operator, unary_operator
from polydl.frontend.walk import key_of, preorder

#: what to do about pointers that change places
SWAPPED = (
    "leave pointers as they are, and write the loops twice in a loop of half as many steps: from one array to the "
    "other, and back"
)


def pointers_of(assignment: Any) -> tuple[Any, Any] | None:
    """The declarations of both pointers of ``p = q``; None for any other operation."""
    if binary_operator(assignment) != ASSIGN:
        return None
    sides = []
    for side in assignment.get_children():
        while side.kind in (CursorKind.PAREN_EXPR, CursorKind.UNEXPOSED_EXPR) and list(side.get_children()):
            side = next(iter(side.get_children()))
        named = side.kind == CursorKind.DECL_REF_EXPR and side.referenced is not None
        if not named or side.type.get_canonical().kind != TypeKind.POINTER:
            return None
        sides.append(side.referenced)
    return sides[0], sides[1]


def is_swapped(pointer: Any, function: Any) -> bool:
    """Whether the function has another pointer point to what one that it declares points to."""
    key = key_of(pointer)
    assigned = (pointers_of(each) for each in preorder(function) if each.kind == CursorKind.BINARY_OPERATOR)
    return any(pair is not None and key_of(pair[1]) == key for pair in assigned)


def remedy_of_dereference(operand: Any) -> str:
    """What to write in the place of ``*operand``."""
    inner = preorder(operand)
    if calls := [each.spelling for each in inner if each.kind == CursorKind.CALL_EXPR]:
        return f"write the element that {calls[0]} returns the address of, such as a[i], in its place"
    names = [each.spelling for each in inner if each.kind == CursorKind.DECL_REF_EXPR]
    if names and any(each.kind == CursorKind.UNARY_OPERATOR and unary_operator(each) in INCREMENTS for each in inner):
        return f"write {names[0]}[i] with a loop counter i, and leave {names[0]} where it is"
    return "write it with a subscript: p[0] for *p, p[i] for *(p + i)"
