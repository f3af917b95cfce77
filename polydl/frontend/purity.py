"""Purity of functions: a region may call only functions whose result depends on their arguments alone.

Runs in the child process that holds libclang.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clang.cindex import CursorKind, StorageClass, conf

from polydl.bfloat16 import CONVERSIONS
from polydl.frontend.c_types import ELEMENTS, shape_of
from polydl.frontend.operators import ADDRESS_OF, DEREFERENCE, unary_operator
from polydl.frontend.walk import preorder
from polydl.ir.scop import PureFunction

# fmt: off
_BASES = (
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign",
    "cos", "cosh", "erf", "erfc", "exp", "exp2", "expm1", "fabs", "fdim", "floor",
    "fma", "fmax", "fmin", "fmod", "hypot", "llrint", "llround", "log", "log10", "log1p",
    "log2", "lrint", "lround", "nearbyint", "pow", "remainder", "rint", "round", "sin", "sinh",
    "sqrt", "tan", "tanh", "tgamma", "trunc",
)
# fmt: on
# What INFINITY and HUGE_VAL stand for in <math.h>.
_INFINITIES = frozenset(("__builtin_inf", "__builtin_inff", "__builtin_huge_val", "__builtin_huge_valf"))
# Of the compiler, on the bits of integers.
_ON_BITS = frozenset(
    f"__builtin_{name}{width}"
    for names, widths in (("popcount clz ctz ffs parity", ("", "l", "ll")), ("bswap", ("16", "32", "64")))
    for name in names.split()
    for width in widths
)
_LIBRARY = frozenset(_BASES) | {f"{name}f" for name in _BASES} | {"abs", "labs", "llabs"}
MATHEMATICAL = _LIBRARY | {f"__builtin_{name}" for name in _LIBRARY} | _INFINITIES | _ON_BITS
#: Functions that pet treats specially, whatever their bodies are.
KNOWN_TO_PET = frozenset(
    ("min", "max", "imin", "imax", "umin", "umax", "ceild", "floord", "intMod", "intCeil", "intFloor")
)
_FORBIDDEN = (
    CursorKind.ASM_STMT,
    CursorKind.MEMBER_REF_EXPR,
    CursorKind.ARRAY_SUBSCRIPT_EXPR,
    CursorKind.INDIRECT_GOTO_STMT,
)
_BRANCHES = frozenset(
    (
        CursorKind.DO_STMT,
        CursorKind.FOR_STMT,
        CursorKind.GOTO_STMT,
        CursorKind.IF_STMT,
        CursorKind.SWITCH_STMT,
        CursorKind.WHILE_STMT,
    )
)
_POINTER_OPERATORS = (ADDRESS_OF, DEREFERENCE)


_ALLOCATING = frozenset(("malloc", "calloc", "realloc", "aligned_alloc", "free"))
_MOVING = frozenset(("memcpy", "memmove", "memset"))
_PASSED = "pass the memory as a parameter, or use an array with a size"
_LOOPS_FOR_CALL = "write the loops that it stands for, or give them in #pragma polydl microkernel(LOOPS)"
_THREADS = (
    "write the loop over all iterations, such as for (int i = 0; i < n; ++i), with #pragma omp for where threads share "
    "it; what is emitted starts threads itself"
)
_ROUND_LOOPS = "put #pragma scop and #pragma endscop round the loops alone"


def remedy_of(function: Any, main_file: str, in_loop: bool) -> str:
    """What to do about a call of an impure ``function``, in a loop or between those of a region."""
    if function.spelling in _ALLOCATING:
        return _PASSED
    if function.spelling in _MOVING:
        return "write the loop that it stands for"
    if function.spelling.startswith("omp_"):
        return _THREADS
    if conf.lib.clang_Location_isInSystemHeader(function.location):
        return "take it out of the loops" if in_loop else _ROUND_LOOPS
    definition = function.get_definition()
    elsewhere = definition is not None and not _is_in(definition, main_file)
    if elsewhere and impurity(function, definition.location.file.name) is None:
        return f"move {function.spelling} from its header to this file"
    if _takes_enumerations_alone(function, main_file):
        return "make the parameter an int; the constants of the enumeration stay what they are"
    if _reads_arrays(function, main_file):
        return "write in its place what it returns, or make it a macro"
    remedy = _LOOPS_FOR_CALL
    if definition is None and _is_of_numbers(function):
        remedy = f"define {function.spelling} in this file, or write in its place what it computes"
    return remedy if in_loop else f"{_ROUND_LOOPS}; or {remedy}"


def _is_of_numbers(function: Any) -> bool:
    """Whether a function takes numbers and returns one."""
    shapes = [shape_of(each.type) for each in function.get_arguments()]
    returns = function.result_type.get_canonical().kind in ELEMENTS
    return returns and not any(shape.extents or shape.problem for shape in shapes)


def _takes_enumerations_alone(function: Any, main_file: str) -> bool:
    """Whether nothing but parameters that are enumerations makes a function of the file impure."""
    definition = function.get_definition()
    if definition is None:
        return False
    problems = {shape_of(each.type).problem for each in definition.get_arguments()}
    arrays = any(shape_of(each.type).extents for each in definition.get_arguments())
    pure = _body_impurity(definition, definition, main_file, (function.spelling,)) is None
    return "an enumeration" in problems <= {"an enumeration", None} and not arrays and pure


def _reads_arrays(function: Any, main_file: str) -> bool:
    """Whether a function of the file returns a number that depends on arrays, none of which it may write to."""
    definition = function.get_definition()
    if definition is None or not _is_in(definition, main_file):
        return False
    if function.result_type.get_canonical().kind not in ELEMENTS:
        return False
    shapes = [shape_of(each.type) for each in definition.get_arguments()]
    arrays = [shape for shape in shapes if shape.extents]
    others_are_numbers = all(shape.extents or not shape.problem for shape in shapes)
    return bool(arrays) and all(shape.is_const for shape in arrays) and others_are_numbers


def _is_in(definition: Any, main_file: str) -> bool:
    file = definition.location.file
    return file is not None and file.name == main_file


def remedy_of_pointer(declaration: Any) -> str:
    """What to do about the declaration of a local pointer."""
    calls = [each.spelling for each in preorder(declaration) if each.kind == CursorKind.CALL_EXPR]
    return f"use the array that {declaration.spelling} points into" if _ALLOCATING.isdisjoint(calls) else _PASSED


def impurity(function: Any, main_file: str) -> str | None:
    """The reason why a call of ``function`` may have side effects; None for a pure function."""
    return _impurity(function, main_file, ())


def pure_function(function: Any) -> PureFunction:
    """What a vector loop must know of a pure ``function`` that is defined in the file."""
    inside = list(_definitions(function))
    cursors = [cursor for definition in inside for cursor in preorder(definition)]
    callees = [each.referenced for each in cursors if each.kind == CursorKind.CALL_EXPR]
    leaves = {each.spelling for each in callees if each.get_definition() is None or each.spelling in CONVERSIONS}
    declaration = ""
    if function.get_definition().storage_class == StorageClass.STATIC:
        result, *types = (
            each.get_canonical() for each in (function.result_type, *(each.type for each in function.get_arguments()))
        )
        # Types that the file defines are not known yet where the declaration stands.
        if all(each.kind in ELEMENTS for each in (result, *types)):
            arguments = ", ".join(each.spelling for each in types)
            declaration = f"static {result.spelling} {function.spelling}({arguments or 'void'})"
    straight = not any(cursor.kind in _BRANCHES for cursor in cursors)
    return PureFunction(function.spelling, declaration, tuple(sorted(leaves)), straight)


def _definitions(function: Any) -> Iterator[Any]:
    """The definitions of a function and of those that it calls, in the file."""
    if function.spelling in CONVERSIONS or (definition := function.get_definition()) is None:
        return
    yield definition
    for cursor in preorder(definition):
        if cursor.kind == CursorKind.CALL_EXPR:
            yield from _definitions(cursor.referenced)


def _impurity(function: Any, main_file: str, callers: tuple[str, ...]) -> str | None:
    name = function.spelling
    if name in CONVERSIONS:
        # They inspect the bits of a number through memory.
        return None
    definition = function.get_definition()
    if definition is None:
        if name in MATHEMATICAL:
            return None
        return "its body isn't in this file, so that what it reads and writes isn't known"
    if name in callers:
        return f"{name} is recursive"
    if not _is_in(definition, main_file):
        return "its body is in another file; define it in this one"
    for parameter in definition.get_arguments():
        shape = shape_of(parameter.type)
        spelling = parameter.spelling or "a parameter"
        if shape.extents and shape.is_const:
            return f"it takes the array {spelling}, and which elements it reads isn't known"
        if shape.extents:
            return f"it takes {spelling} by reference, so that it may write to it"
        if shape.problem:
            return f"it takes {spelling}, which is {shape.problem}"
    return _body_impurity(definition, definition, main_file, (*callers, name))


def _body_impurity(cursor: Any, definition: Any, main_file: str, callers: tuple[str, ...]) -> str | None:
    kind = cursor.kind
    if kind in _FORBIDDEN:
        return "it uses memory or assembly"
    if kind == CursorKind.VAR_DECL and cursor.storage_class == StorageClass.STATIC:
        return f"it keeps state in {cursor.spelling}"
    if kind == CursorKind.UNARY_OPERATOR and unary_operator(cursor) in _POINTER_OPERATORS:
        return "it uses pointers"
    if kind == CursorKind.DECL_REF_EXPR:
        referenced = cursor.referenced
        if referenced is not None and referenced.kind == CursorKind.VAR_DECL:
            outside = referenced.semantic_parent.kind == CursorKind.TRANSLATION_UNIT
            if outside and not referenced.type.get_canonical().is_const_qualified():
                return f"it uses the global variable {referenced.spelling}"
    if kind == CursorKind.CALL_EXPR:
        callee = cursor.referenced
        if callee is None or callee.kind != CursorKind.FUNCTION_DECL:
            return "it calls through a pointer"
        reason = _impurity(callee, main_file, callers)
        if reason is not None:
            return reason if callee.spelling in callers else f"it calls {callee.spelling}: {reason}"
    for child in cursor.get_children():
        reason = _body_impurity(child, definition, main_file, callers)
        if reason is not None:
            return reason
    return None
