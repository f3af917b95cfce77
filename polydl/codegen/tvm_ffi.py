"""Emitted functions that other languages and frameworks call without a binding: the C ABI of Apache TVM FFI.

A function of that ABI takes an array of tagged arguments; tensors are DLPack's, as those of NumPy, PyTorch and JAX are.
The layouts and the numbers of kinds are those of ``tvm/ffi/c_api.h`` and ``dlpack/dlpack.h``; nothing of it is included
or linked. Source: https://tvm.apache.org/ffi/get_started/stable_c_abi.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path

from polydl import bfloat16
from polydl.codegen import processor
from polydl.ir.scop import Array, Parameter, Scop

_PREFIX = "__tvm_ffi_"
# Codes of DLPack.
_SIGNED, _UNSIGNED, _FLOAT, _BFLOAT, _BOOLEAN = 0, 1, 2, 4, 6
# Integers are passed as this type.
_INT64_MOST = 2**63 - 1
_CODES = {
    "_Bool": _BOOLEAN,
    **dict.fromkeys(("char", "signed char", "short", "int", "long", "long long"), _SIGNED),
    **dict.fromkeys(("unsigned char", "unsigned short", "unsigned int", "unsigned long"), _UNSIGNED),
    "unsigned long long": _UNSIGNED,
    **dict.fromkeys(("_Float16", "float", "double"), _FLOAT),
    bfloat16.ELEMENT: _BFLOAT,
}
# Passed as one number: those that C converts from an integer or a double.
_SCALARS = _CODES.keys() - {bfloat16.ELEMENT}


@dataclass(frozen=True)
class ForeignCall:
    """The C by which a function is called from elsewhere, and its name there."""

    #: the symbol, which callers name without its prefix
    symbol: str
    #: C before the source's own text, whose macros could change it
    definitions: str
    #: C after the function
    function: str


@dataclass(frozen=True)
class Told:
    """Where a size that callers may leave out is read from: an extent of a tensor, which is a linear function of it."""

    #: Place of the tensor among the parameters.
    parameter: int
    #: How many dimensions the tensor has.
    dimensions: int
    #: The one whose extent tells the size, from 0.
    dimension: int
    #: What the size is multiplied by in the extent.
    factor: int
    #: What is added to that: the extent is ``factor`` times the size and ``more``.
    more: int


@dataclass(frozen=True)
class OpenShapes:
    """What is known of a function's arrays where it takes any sizes. All C is of the names of sizes."""

    #: the parameters that are sizes, and where each is read from; None for one that no array tells
    sizes: Mapping[str, Told | None]
    #: C of the extents of each array; none for one of which only the number of elements matters
    extents: Mapping[str, tuple[str, ...]]
    #: C of the least number of elements of each array
    elements: Mapping[str, str]


def foreign_call(scop: Scop, exported: str, shapes: OpenShapes | None = None) -> ForeignCall | None:
    """How the function that is exported under that name is called; None if one of its types has no place there.

    It takes the function's arguments in order: all of them, or those whose values were not fixed. Tensors must have the
    element type and the extents of the source's arrays, be C-contiguous and in the CPU's memory. A function that takes
    any sizes has ``shapes``: it takes all arguments, or those that no tensor tells.
    """
    parameters = [(parameter, scop.array(parameter.array)) for parameter in scop.function.parameters]
    if scop.function.return_type != "void" or not all(_has_place(*each) for each in parameters):
        return None
    symbol = f"{_PREFIX}{exported}"
    function = processor.for_all(_function(scop, exported, symbol, parameters, shapes))
    return ForeignCall(symbol, f"{_definitions()}\n", f"\n{function}\n")


def _has_place(parameter: Parameter, array: Array) -> bool:
    return array.element in (_CODES if parameter.is_pointer else _SCALARS)


@cache
def _definitions() -> str:
    return processor.for_all(Path(__file__).with_name("tvm_ffi.c").read_text(encoding="utf-8").rstrip("\n"))


def _function(
    scop: Scop, exported: str, symbol: str, parameters: list[tuple[Parameter, Array]], shapes: OpenShapes | None
) -> str:
    spared = [_is_spared(parameter, shapes) for parameter, _ in parameters]
    needed = spared.count(False)
    counts = sorted({needed, len(parameters)})
    wrong = " && ".join(f"polydl_count != {count}" for count in counts)
    rows = [
        f"  if ({wrong}) {{",
        f'    return polydl_raise("TypeError", "{exported}", "takes {" or ".join(map(str, counts))} arguments");',
        "  }",
    ]
    if needed < len(parameters):
        rows.append(f"  int polydl_all = polydl_count == {len(parameters)};")
    rows += _sizes(exported, parameters, shapes, spared)
    values = []
    for place, (parameter, array) in enumerate(parameters):
        if shapes is not None and parameter.name in shapes.sizes:
            values.append(f"({array.element}){parameter.name}")
            continue
        rows += _argument(place, exported, parameter, array, shapes, _given(place, spared))
        values.append(f"polydl_{place}" if parameter.is_pointer else f"({array.element})polydl_{place}")
    rows += _apart(scop, exported, parameters, shapes)
    signature = (
        f"int {symbol}(void *polydl_handle, const polydl_argument *polydl_arguments, int polydl_count,\n"
        f"{' ' * len(f'int {symbol}(')}polydl_argument *polydl_result)"
    )
    return "\n".join(
        [
            f"{signature};",
            signature,
            "{",
            "  (void)polydl_handle;",
            *rows,
            f"  {exported}({', '.join(values)});",
            # The source's macros may have the names of fields.
            "  return polydl_none(polydl_result);",
            "}",
        ]
    )


def _is_spared(parameter: Parameter, shapes: OpenShapes | None) -> bool:
    """Whether callers may leave a parameter out."""
    if shapes is not None and parameter.name in shapes.sizes:
        return shapes.sizes[parameter.name] is not None
    return parameter.value is not None


def _given(place: int, spared: Sequence[bool]) -> str:
    """C of the argument for a parameter, where it is given."""
    missing = sum(spared[:place])
    index = str(place) if not missing else f"polydl_all ? {place} : {place - missing}"
    return f"&polydl_arguments[{index}]"


def _sizes(
    exported: str, parameters: list[tuple[Parameter, Array]], shapes: OpenShapes | None, spared: Sequence[bool]
) -> list[str]:
    """C that takes the sizes from arguments of their own, or else from the extents of tensors."""
    rows = []
    for place, (parameter, array) in enumerate(parameters):
        if shapes is None or parameter.name not in shapes.sizes:
            continue
        size, told = parameter.name, shapes.sizes[parameter.name]
        given = (
            f'polydl_integer({_given(place, spared)}, "{exported}: {size}", 0, {_literal(_range(array)[1])}, &{size})'
        )
        rows.append(f"  long long {size} = 0;")
        if told is None:
            rows += [f"  if ({given}) {{", "    return -1;", "  }"]
            continue
        name = f'"{exported}: {parameters[told.parameter][0].name}"'
        rows += [
            "  if (polydl_all) {",
            f"    if ({given}) {{",
            "      return -1;",
            "    }",
            "  } else {",
            f"    {size} = polydl_size({_given(told.parameter, spared)}, {name}, {told.dimensions}, {told.dimension}, "
            f"{told.factor}, {told.more}, {_literal(_range(array)[1])});",
            f"    if ({size} < 0) {{",
            "      return -1;",
            "    }",
            "  }",
        ]
    return rows


def _elements(place: int, name: str, array: Array, shapes: OpenShapes | None, given: str) -> list[str]:
    """C that takes a tensor's elements as ``polydl_<place>``."""
    kind = f"{_CODES[array.element]}, {8 * array.element_bytes}, {array.element_bytes}"
    if shapes is not None and array.name in shapes.elements and array.name not in shapes.extents:
        call = f"polydl_at_least({given}, {name}, {kind}, {shapes.elements[array.name]})"
        return [f"  void *polydl_{place} = {call};"]
    extents = tuple(map(str, array.extents or (1,)))
    constant = "static "
    if shapes is not None and array.name in shapes.extents:
        extents, constant = shapes.extents[array.name], ""
    return [
        f"  {constant}const long long polydl_extents_{place}[] = {{{', '.join(extents)}}};",
        f"  void *polydl_{place} = polydl_elements({given}, {name}, {kind}, {len(extents)}, polydl_extents_{place});",
    ]


def _argument(
    place: int, exported: str, parameter: Parameter, array: Array, shapes: OpenShapes | None, argument: str
) -> list[str]:
    """C that takes an argument as ``polydl_<place>``."""
    name = f'"{exported}: {parameter.name}"'
    if parameter.is_pointer:
        return [
            *_elements(place, name, array, shapes, argument),
            f"  if (!polydl_{place}) {{",
            "    return -1;",
            "  }",
        ]
    if _CODES[array.element] == _FLOAT:
        return [
            f"  double polydl_{place};",
            f"  if (polydl_real({argument}, {name}, &polydl_{place})) {{",
            "    return -1;",
            "  }",
        ]
    if shapes is not None and parameter.value is not None:
        # A caller who passes any size of the others has to learn why not of this one.
        return _fixed(place, exported, parameter, array, argument)
    given = "" if parameter.value is None else "polydl_all && "
    least, most = _range(array) if parameter.value is None else (parameter.value, parameter.value)
    return [
        f"  long long polydl_{place} = {parameter.value or 0};",
        f"  if ({given}polydl_integer({argument}, {name}, {_literal(least)}, {_literal(most)}, &polydl_{place})) {{",
        "    return -1;",
        "  }",
    ]


def _fixed(place: int, exported: str, parameter: Parameter, array: Array, argument: str) -> list[str]:
    """C that takes an integer, which may be left out, and has one value in a function of otherwise any sizes."""
    size, name = parameter.value, parameter.name
    least, most = map(_literal, _range(array))
    reason = f"must be {size}, which -D {name}={size} fixed for the whole library"
    return [
        f"  long long polydl_{place} = {size};",
        f'  if (polydl_all && polydl_integer({argument}, "{exported}: {name}", {least}, {most}, &polydl_{place})) {{',
        "    return -1;",
        "  }",
        f"  if (polydl_{place} != {size}) {{",
        f'    return polydl_raise("ValueError", "{exported}: {name}", "{reason}");',
        "  }",
    ]


def _range(array: Array) -> tuple[int, int]:
    """What an integer type holds, as far as an argument can be that."""
    bits = 8 * array.element_bytes
    if _CODES[array.element] == _BOOLEAN:
        return 0, 1
    if _CODES[array.element] == _UNSIGNED:
        return 0, min(2**bits - 1, _INT64_MOST)
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


def _literal(value: int) -> str:
    # The least integer is no literal of C.
    return f"(-{-value - 1}LL - 1)" if value < 0 else f"{value}LL"


def _apart(
    scop: Scop, exported: str, parameters: list[tuple[Parameter, Array]], shapes: OpenShapes | None
) -> list[str]:
    """C that refuses arrays which are written and overlap others."""
    written = {access.array for statement in scop.statements for access in statement.writes}
    pointers = [(place, *each) for place, each in enumerate(parameters) if each[0].is_pointer]
    rows = []
    for (first, parameter, array), (second, other, other_array) in combinations(pointers, 2):
        if array.name in written or other_array.name in written:
            name = parameter.name if array.name in written else other.name
            rows += [
                f"  if (polydl_disjoint(polydl_{first}, {_bytes(array, shapes)}, polydl_{second}, "
                f"{_bytes(other_array, shapes)}, "
                f'"{exported}: {name}")) {{',
                "    return -1;",
                "  }",
            ]
    return rows


def _bytes(array: Array, shapes: OpenShapes | None) -> str:
    """C of an array's bytes."""
    if shapes is None or array.name not in shapes.elements:
        return str(array.bytes)
    return f"{array.element_bytes} * ({shapes.elements[array.name]})"
