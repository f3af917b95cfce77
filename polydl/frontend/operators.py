"""C's operators as libclang numbers them. Runs in the child process that holds libclang."""

from __future__ import annotations

from typing import Any

from clang.cindex import conf

# Of enum CXBinaryOperatorKind.
MULTIPLY, DIVIDE, REMAINDER, ADD, SUBTRACT, SHIFT_LEFT, SHIFT_RIGHT, AND = 3, 4, 5, 6, 7, 8, 9, 17
XOR, OR = 18, 19
ASSIGN, ADD_ASSIGN, SUBTRACT_ASSIGN, COMMA = 22, 26, 27, 33
#: of the same: those whose results are the same modulo 2^64 whatever the type
MODULAR = (MULTIPLY, ADD, SUBTRACT)
#: of the same, as C writes them
COMPARISONS = {11: "<", 12: ">", 13: "<=", 14: ">=", 16: "!="}
EQUALS = 15
LOGICAL = (20, 21)
#: of the same: those on bits
ON_BITS = (SHIFT_LEFT, SHIFT_RIGHT, AND, XOR, OR)
#: of the same: those whose results are 0 or 1
TRUTHS = frozenset((*COMPARISONS, EQUALS, *LOGICAL))
# Of enum CXUnaryOperatorKind.
ADDRESS_OF, DEREFERENCE, PLUS, MINUS, COMPLEMENT, NOT = 5, 6, 7, 8, 9, 10
#: of the same: what each increment or decrement adds to its operand
INCREMENTS = {1: 1, 2: -1, 3: 1, 4: -1}


def binary_operator(cursor: Any) -> int:
    """The operator of a binary operation, an assignment or a compound one."""
    return int(conf.lib.clang_getCursorBinaryOperatorKind(cursor))


def unary_operator(cursor: Any) -> int:
    """The operator of a unary operation."""
    return int(conf.lib.clang_getCursorUnaryOperatorKind(cursor))
