"""The nest as the user wrote it, and a harness that calls it."""

from __future__ import annotations

from pathlib import Path

from polydl import bfloat16
from polydl.codegen.header import prototype
from polydl.ir.interface import Interface
from polydl.ir.kernel import KernelSource
from polydl.ir.scop import Array, Scop

_SIGNED = frozenset({"char", "signed char", "short", "int", "long", "long long"})


def original(scop: Scop) -> KernelSource:
    """The nest as the user wrote it: the baseline, and the reference for every check."""
    return KernelSource(
        id="original",
        function=scop.function.name,
        c=defines(scop) + bfloat16.with_header(scop.source),
        interface=Interface(scop.function.name, prototype(scop)),
        harness=harness(scop),
        compile_flags=compile_flags(scop),
    )


def harness(scop: Scop, exported: str = "") -> str:
    """C that calls the function with one pointer per parameter and tells where the global arrays are.

    ``exported`` is the function's name, if not the source's.
    """
    return invoking(scop, f"{exported or scop.function.name}({', '.join(invocation_arguments(scop))})")


def invocation_arguments(scop: Scop) -> list[str]:
    """C of the function's arguments, from the pointers of an invocation."""
    return [
        f"arguments[{index}]"
        if parameter.is_pointer
        else f"*(const {scop.array(parameter.array).element} *)arguments[{index}]"
        for index, parameter in enumerate(scop.function.parameters)
    ]


def invoking(scop: Scop, call: str) -> str:
    """C of ``KernelSource.harness``, where an invocation is that call."""
    ignored = "" if scop.function.return_type == "void" else "(void)"
    lines = [
        "void polydl_invoke(void *const *arguments);",
        "void polydl_invoke(void *const *arguments)",
        "{",
        *(["  (void)arguments;"] if not scop.function.parameters else []),
        f"  {ignored}{call};",
        "}",
        "void *polydl_global(int index);",
        "void *polydl_global(int index)",
        "{",
        "  switch (index) {",
    ]
    for index, array in enumerate(_globals(scop)):
        lines.append(f"  case {index}: return (void *)&{array.name};")
    return "\n".join([*lines, "  default: return 0;", "  }", "}", ""])


def _globals(scop: Scop) -> list[Array]:
    """The global arrays of the source, without what shows one of them in another shape."""
    return [array for array in scop.arrays if array.storage == "global" and not array.view_of]


def defines(scop: Scop) -> str:
    """C that defines what the user gave by ``-D``: one ``#define`` a line, "" if there are none.

    Values of the function's own parameters are left out: they are passed when it is called.
    """
    bound = {parameter.name for parameter in scop.function.parameters if parameter.value is not None}
    return "".join(f"#define {name} {value}\n" for name, value in scop.defines if name not in bound)


def features(scop: Scop) -> list[str]:
    """C before the headers of generated code: what of ``defines`` and of the source's own has them declare more."""
    return [f"#define {name} {value}".rstrip() for name, value in scop.features]


def compile_flags(scop: Scop) -> tuple[str, ...]:
    """What the nest needs beyond the flags of every kernel."""
    return (*include_flags(scop), *(("-fwrapv",) if wraps(scop) else ()))


def wraps(scop: Scop) -> bool:
    """Whether integers that overflow are to wrap around: in C the order of a signed sum could matter otherwise."""
    written = {access.array for statement in scop.statements for access in statement.writes}
    return any(scop.array(name).element in _SIGNED for name in written)


def include_flags(scop: Scop) -> tuple[str, ...]:
    """Where the source's own headers are: code is compiled in another directory than the source's."""
    directories = [*scop.include_directories]
    if '#include "' in scop.source:
        directories.insert(0, str(Path(scop.file).resolve().parent))
    return tuple(f"-I{directory}" for directory in dict.fromkeys(directories))
