"""Translation of libclang's types: element type, extents, declaration.

Runs in the child process that holds libclang.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from clang.cindex import TypeKind

from polydl.bfloat16 import ELEMENT as BFLOAT16
from polydl.emitted_names import OTHER_KEYWORDS
from polydl.frontend.facts import DeclaredType

# libclang knows kinds of types that its Python bindings lack, such as 32, `_Float16`; asking for one raised ValueError.
for _kind in range(max(len(TypeKind._kinds), 256)):
    if _kind >= len(TypeKind._kinds) or TypeKind._kinds[_kind] is None:
        setattr(TypeKind, f"KIND_{_kind}", TypeKind(_kind))

ELEMENTS = {
    TypeKind.FLOAT: "float",
    TypeKind.DOUBLE: "double",
    TypeKind.BOOL: "_Bool",
    TypeKind.CHAR_S: "char",
    TypeKind.CHAR_U: "char",
    TypeKind.SCHAR: "signed char",
    TypeKind.UCHAR: "unsigned char",
    TypeKind.SHORT: "short",
    TypeKind.USHORT: "unsigned short",
    TypeKind.INT: "int",
    TypeKind.UINT: "unsigned int",
    TypeKind.LONG: "long",
    TypeKind.ULONG: "unsigned long",
    TypeKind.LONGLONG: "long long",
    TypeKind.ULONGLONG: "unsigned long long",
}
_ARRAYS = (TypeKind.CONSTANTARRAY, TypeKind.VARIABLEARRAY, TypeKind.INCOMPLETEARRAY)
_FLOATING = (TypeKind.FLOAT, TypeKind.DOUBLE)
_EXTENT = re.compile(r"\[([^\]]*)\]")
_WORD = re.compile(r"[A-Za-z_]\w*")
_RESTRICT = re.compile(r"\brestrict\b ?")
# Words that the extent of a parameter may have beside its size.
_IN_BRACKETS = frozenset({"static", "const", "restrict", "volatile"})
#: of constants of each type of integers that arithmetic is done in, other than int
SUFFIXES = {TypeKind.UINT: "U", TypeKind.LONG: "L", TypeKind.ULONG: "UL"} | {
    TypeKind.LONGLONG: "LL",
    TypeKind.ULONGLONG: "ULL",
}
# Of an int and of a long.
_LEAST = (-(1 << 31), -(1 << 63))
_PROBLEMS = {
    TypeKind.POINTER: "an array of pointers",
    TypeKind.VOID: "a pointer to void",
    TypeKind.FUNCTIONPROTO: "a pointer to a function",
    TypeKind.FUNCTIONNOPROTO: "a pointer to a function",
    TypeKind.COMPLEX: "complex numbers",
    TypeKind.ENUM: "an enumeration",
    TypeKind.LONGDOUBLE: "long double",
}


def shape_of(type_: Any) -> DeclaredType:
    """The shape of a libclang type; what a Scop can't represent is said in its ``problem``, not raised."""
    current = type_.get_canonical()
    extents: list[int | None] = []
    is_pointer = current.kind == TypeKind.POINTER
    volatile, const = current.is_volatile_qualified(), False
    if is_pointer:
        extents.append(None)
        current = current.get_pointee().get_canonical()
    while current.kind in _ARRAYS:
        extents.append(current.element_count if current.kind == TypeKind.CONSTANTARRAY else None)
        # The qualifiers of an array type are those of its elements.
        volatile, const = volatile or current.is_volatile_qualified(), const or current.is_const_qualified()
        current = current.element_type.get_canonical()
    problem = "volatile" if volatile or current.is_volatile_qualified() else None
    element = ELEMENTS.get(current.kind)
    if element is None:
        problem = _problem(current, len(extents))
    elif _is_bfloat16(type_):
        element = BFLOAT16
        problem = problem if extents else "a single bfloat16"
    return DeclaredType(
        element=element or current.spelling,
        element_bytes=max(0, current.get_size()),
        extents=tuple(extents),
        is_pointer=is_pointer,
        is_const=const or current.is_const_qualified(),
        is_integer=element not in (None, BFLOAT16) and current.kind not in _FLOATING,
        problem=problem,
    )


def _is_bfloat16(type_: Any) -> bool:
    """Whether the elements have an unsigned 16-bit type called bfloat16."""
    current = type_
    while current.kind in (*_ARRAYS, TypeKind.POINTER, TypeKind.TYPEDEF, TypeKind.ELABORATED):
        if current.kind == TypeKind.POINTER:
            current = current.get_pointee()
        elif current.kind in _ARRAYS:
            current = current.element_type
        elif current.kind == TypeKind.ELABORATED:
            current = current.get_named_type()
        elif current.get_declaration().spelling == BFLOAT16:
            return bool(current.get_canonical().kind == TypeKind.USHORT)
        else:
            current = current.get_declaration().underlying_typedef_type
    return False


def _problem(type_: Any, dimensions: int) -> str:
    if type_.kind == TypeKind.RECORD:
        return "a union" if type_.get_declaration().kind.name == "UNION_DECL" else "a struct"
    if type_.kind == TypeKind.POINTER and dimensions == 1:
        return "a pointer to pointers"
    if "_Atomic" in type_.spelling:
        return "an atomic"
    unqualified = re.sub(r"\b(const|volatile|restrict) ", "", type_.spelling)
    return _PROBLEMS.get(type_.kind, f"the type {unqualified}")


def declaration(type_: Any, name: str, const: bool = False, *, in_header: bool = False) -> str:
    """The declaration of ``name`` with ``type_`` in a prototype, in terms of built-in types.

    ``in_header`` is for C and C++, which has no ``restrict`` and no ``_Bool``.
    """
    canonical = type_.get_canonical()
    if canonical.kind in _ARRAYS:
        extent = str(canonical.element_count) if canonical.kind == TypeKind.CONSTANTARRAY else ""
        const = const or canonical.is_const_qualified()
        return declaration(canonical.element_type, f"{name}[{extent}]", const, in_header=in_header)
    if canonical.kind == TypeKind.POINTER:
        qualifiers = "const " if canonical.is_const_qualified() else ""
        qualifiers += "restrict " if canonical.is_restrict_qualified() and not in_header else ""
        pointee = canonical.get_pointee().get_canonical()
        inner = f"*{qualifiers}{name}"
        return declaration(pointee, f"({inner})" if pointee.kind in _ARRAYS else inner, in_header=in_header)
    const = const or canonical.is_const_qualified()
    if in_header and canonical.kind == TypeKind.BOOL:
        return f"{'const ' if const else ''}bool {name}"
    spelled = f"const {canonical.spelling}" if const and not canonical.is_const_qualified() else canonical.spelling
    return f"{spelled} {name}"


def sized_declaration(type_: Any, name: str, parameters: Collection[str]) -> str:
    """The same with the extents that these parameters give as the source writes them; "" where there are none.

    Where other names are in an extent, such as an enumerator of the file, it is left out: ``[]``.
    """
    known, text = set(parameters), _sized(type_.get_canonical(), name)
    given = any(names and names <= known for names in map(_names_in, _EXTENT.findall(text)))
    return _EXTENT.sub(lambda extent: extent[0] if _names_in(extent[1]) <= known else "[]", text) if given else ""


def names_in_header(parameters: Collection[str]) -> dict[str, str]:
    """What each parameter is called in a header: another name where its own is a keyword of C++ or of C23."""
    taken, names = set(parameters), {}
    for name in parameters:
        shown = name
        while shown in OTHER_KEYWORDS or (shown != name and shown in taken):
            shown += "_"
        taken.add(shown)
        names[name] = shown
    return names


def sized_in_header(type_: Any, name: str, parameters: Mapping[str, str]) -> str:
    """``sized_declaration`` as a header has it for C. ``parameters`` says what each is called there."""
    if not sized_declaration(type_, name, parameters):
        return ""

    def written(extent: re.Match[str]) -> str:
        if not _names_in(extent[1]) <= set(parameters):
            return "[]"
        words = _WORD.sub(lambda word: parameters.get(word[0], word[0]), extent[1])
        return f"[{_RESTRICT.sub('', words)}]"

    return _EXTENT.sub(written, _sized(type_.get_canonical(), parameters[name], in_header=True))


def _names_in(extent: str) -> set[str]:
    return set(_WORD.findall(extent)) - _IN_BRACKETS


def with_numbers(sized: str, fixed: str) -> str:
    """A ``sized_declaration`` with numbers for the extents that it leaves out, which a ``declaration`` has."""
    numbers, extents = _EXTENT.findall(fixed), _EXTENT.findall(sized)
    if len(numbers) != len(extents):
        return ""
    written = (extent or number for extent, number in zip(extents, numbers, strict=True))
    return _EXTENT.sub(lambda _: f"[{next(written)}]", sized)


def _sized(canonical: Any, name: str, const: bool = False, *, in_header: bool = False) -> str:
    if canonical.kind == TypeKind.POINTER and canonical.get_pointee().get_canonical().kind in _ARRAYS:
        qualifiers = "restrict " if canonical.is_restrict_qualified() and not in_header else ""
        return _sized(canonical.get_pointee().get_canonical(), f"(*{qualifiers}{name})", in_header=in_header)
    if canonical.kind not in _ARRAYS:
        return declaration(canonical, name, const, in_header=in_header)
    inner = canonical.element_type.get_canonical()
    # Of the spelled ``float[M][N]`` the extents of ``float[N]`` are the end.
    written, rest = canonical.spelling, inner.spelling
    outer = written[written.find("[") : len(written) - len(rest[rest.find("[") :] if inner.kind in _ARRAYS else "")]
    return _sized(inner, f"{name}{outer}", const or canonical.is_const_qualified(), in_header=in_header)


def literal(value: int, type_: Any) -> str:
    """``value`` as a C constant of the integer type, promotions included."""
    suffix = SUFFIXES.get(type_.get_canonical().kind, "")
    if value in _LEAST:
        # Without its sign, it is a number that the type doesn't have.
        return f"({value + 1}{suffix} - 1)"
    return f"({value}{suffix})" if value < 0 else f"{value}{suffix}"
