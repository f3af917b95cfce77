"""Many variants of one nest as one translation unit, so that a compiler reads headers and starts only once."""

from __future__ import annotations

from collections.abc import Sequence

from polydl.codegen.team import ALL_THREADS
from polydl.codegen.unit_names import unit_names
from polydl.ir import ingredients
from polydl.ir.kernel import KernelSource

# No processor is asked whether it fits: a variant must not have the original run in its place. Nor is the number of
# threads chosen from call to call.
_FOR_ALL = f"#define {ALL_THREADS}\n#define polydl_fits() 1\n#define polydl_missing() NULL"


def suffix(number: int) -> str:
    """What the names of a kernel in a unit end with. All are of one length, and so is a kernel at any place."""
    return f"_v{number:03}"


def invoke_symbol(number: int) -> str:
    """The function of ``KernelSource.harness`` that calls the kernel, in a unit."""
    return f"polydl_invoke{suffix(number)}"


def global_symbol(number: int) -> str:
    """The function of ``KernelSource.harness`` that tells where global arrays are, in a unit."""
    return f"polydl_global{suffix(number)}"


def together(kernels: Sequence[tuple[int, KernelSource]], function: str, identity: str) -> KernelSource:
    """Kernels of one nest, in a ``function`` of the source, each generated and exported with ``suffix`` of its number.

    Global arrays are declared without values, so that all kernels share them.
    """
    texts, names = [_FOR_ALL], unit_names(function)
    for number, kernel in kernels:
        texts += [f"#define {name} {name}{suffix(number)}" for name in names]
        texts += [kernel.c, kernel.harness]
        texts += [f"#undef {name}" for name in names]
    return KernelSource(
        id=identity,
        function="",
        c="\n".join(texts),
        interface=kernels[0][1].interface,
        harness="",
        compile_flags=_union([kernel.compile_flags for _, kernel in kernels]),
        link_flags=_union([kernel.link_flags for _, kernel in kernels]),
        vector_functions=_union([kernel.vector_functions for _, kernel in kernels]),
        ingredients=ingredients.together(kernel.ingredients for _, kernel in kernels),
    )


def _union(flags: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(flag for part in flags for flag in part))
