"""The nest as the user wrote it, the header that declares it, and a harness that calls it."""

from __future__ import annotations

from pathlib import Path

from polydl import bfloat16
from polydl.ir.kernel import KernelSource
from polydl.ir.scop import Scop


def original(scop: Scop) -> KernelSource:
    """The nest as the user wrote it: the baseline, and the reference for every check."""
    return KernelSource(
        id="original",
        function=scop.function.name,
        c=defines(scop) + bfloat16.with_header(scop.source),
        header=header(scop),
        harness=harness(scop),
        compile_flags=include_flags(scop),
    )


def prototype(scop: Scop) -> str:
    function = scop.function
    parameters = ", ".join(parameter.declaration for parameter in function.parameters) or "void"
    return f"{function.return_type} {function.name}({parameters})"


def header(scop: Scop) -> str:
    """A header that declares the function, for C and C++."""
    guard = f"POLYDL_{scop.function.name.upper()}_H"
    return (
        f'#ifndef {guard}\n#define {guard}\n\n#ifdef __cplusplus\nextern "C" {{\n#endif\n\n'
        f"{prototype(scop)};\n\n#ifdef __cplusplus\n}}\n#endif\n\n#endif\n"
    )


def harness(scop: Scop) -> str:
    """C that calls the function with one pointer per parameter and tells where the global arrays are."""
    arguments = []
    for index, parameter in enumerate(scop.function.parameters):
        if parameter.is_pointer:
            arguments.append(f"arguments[{index}]")
        else:
            arguments.append(f"*(const {scop.array(parameter.array).element} *)arguments[{index}]")
    lines = [
        "void polydl_invoke(void *const *arguments);",
        "void polydl_invoke(void *const *arguments)",
        "{",
        *(["  (void)arguments;"] if not arguments else []),
        f"  {'' if scop.function.return_type == 'void' else '(void)'}{scop.function.name}({', '.join(arguments)});",
        "}",
        "void *polydl_global(int index);",
        "void *polydl_global(int index)",
        "{",
        "  switch (index) {",
    ]
    for index, array in enumerate(each for each in scop.arrays if each.storage == "global"):
        lines.append(f"  case {index}: return (void *)&{array.name};")
    return "\n".join([*lines, "  default: return 0;", "  }", "}", ""])


def defines(scop: Scop) -> str:
    bound = {parameter.name for parameter in scop.function.parameters if parameter.value is not None}
    return "".join(f"#define {name} {value}\n" for name, value in scop.defines if name not in bound)


def include_flags(scop: Scop) -> tuple[str, ...]:
    """Where the source's own headers are: code is compiled in another directory than the source's."""
    directories = [*scop.include_directories]
    if '#include "' in scop.source:
        directories.insert(0, str(Path(scop.file).resolve().parent))
    return tuple(f"-I{directory}" for directory in directories)
