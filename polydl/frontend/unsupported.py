"""Constructs of C that a Scop can't represent wherever they stand, with what to write in their place."""

from __future__ import annotations

from typing import Any

from clang.cindex import CursorKind

from polydl.frontend.facts import MEMBERS

_FOR = "write a for loop with bounds that are known before it starts: for (int i = 0; i < n; ++i)"
#: how messages call a construct, and the remedy
UNSUPPORTED = {
    CursorKind.GOTO_STMT: ("goto", "write the loop as a for loop"),
    CursorKind.INDIRECT_GOTO_STMT: ("a computed goto", "write the loop as a for loop"),
    CursorKind.LABEL_STMT: ("a label", "put the loops behind it into braces, with the scop pragmas inside"),
    CursorKind.SWITCH_STMT: (
        "switch",
        "write it with if and conditions on loop counters, or on integer parameters that -D gives values",
    ),
    CursorKind.WHILE_STMT: ("a while loop", _FOR),
    CursorKind.DO_STMT: ("a do loop", _FOR),
    CursorKind.RETURN_STMT: (
        "return inside the loops",
        "keep the result in a variable, such as a flag, let the loops run to their end, and return it behind them",
    ),
    CursorKind.ASM_STMT: ("assembly", "write it in C, or mark a call with #pragma polydl microkernel(...)"),
    CursorKind.MEMBER_REF_EXPR: ("a struct or union member", MEMBERS),
    CursorKind.STRING_LITERAL: ("a string", "move it out of the region"),
    CursorKind.CHARACTER_LITERAL: ("a character constant", "write its number"),
    CursorKind.INIT_LIST_EXPR: ("an initializer list", "fill the array in a loop"),
    CursorKind.COMPOUND_LITERAL_EXPR: ("a compound literal", "use an array that has a name"),
    CursorKind.StmtExpr: ("a statement expression", "write its statements on their own"),
    CursorKind.CXX_UNARY_EXPR: ("sizeof", "write the number, or put sizeof in the text itself, and not in a macro"),
}
#: ``Construct.kind`` of some
KINDS = {
    CursorKind.CALL_EXPR: "call",
    CursorKind.GOTO_STMT: "goto",
    CursorKind.INDIRECT_GOTO_STMT: "goto",
    CursorKind.LABEL_STMT: "label",
}


def named_with_remedy(kind: Any) -> tuple[str, str]:
    """How messages call a construct of libclang's ``kind``, whether it is among ``UNSUPPORTED`` or not; the remedy."""
    return UNSUPPORTED.get(kind, (kind.name.lower(), "write it with for loops"))
