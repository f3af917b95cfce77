"""Many variants of one nest as one translation unit, so that a compiler reads headers and starts only once."""

from __future__ import annotations

from collections.abc import Sequence

from polydl.c_tokens import with_words
from polydl.codegen import processor
from polydl.codegen.team import ALL_THREADS
from polydl.ir.kernel import KernelSource

# In the place of ``processor.definitions``, and the names there that kernels use.
_FITS = f"#include <stddef.h>\n#define {ALL_THREADS}\n#define polydl_fits() 1\n#define polydl_missing() NULL"
_SHARED = frozenset({"polydl_fits", "polydl_missing"})


def invoke_symbol(number: int) -> str:
    """The function of ``KernelSource.harness`` that calls the kernel, in a unit."""
    return f"polydl_invoke_v{number}"


def global_symbol(number: int) -> str:
    """The function of ``KernelSource.harness`` that tells where global arrays are, in a unit."""
    return f"polydl_global_v{number}"


def together(kernels: Sequence[tuple[int, KernelSource]], identity: str) -> KernelSource:
    """Kernels of one nest, each with a number that its functions and what polydl defines for it get as a suffix.

    No processor is asked whether it fits: a variant must not have the original run in its place. Nor is the number of
    threads chosen from call to call.
    Global arrays are declared without values, so that all kernels share them.
    """
    texts = [_FITS, *(_numbered(kernel, number) for number, kernel in kernels)]
    return KernelSource(
        id=identity,
        function="",
        c="\n".join(texts),
        interface=kernels[0][1].interface,
        harness="",
        compile_flags=_union([kernel.compile_flags for _, kernel in kernels]),
        link_flags=_union([kernel.link_flags for _, kernel in kernels]),
        vector_functions=_union([kernel.vector_functions for _, kernel in kernels]),
    )


def _numbered(kernel: KernelSource, number: int) -> str:
    exported = {kernel.function, kernel.interface.release, kernel.interface.missing}
    text = f"{kernel.c}\n{kernel.harness}".replace(processor.definitions(), "")

    def numbered(word: str) -> str:
        renamed = (word.startswith("polydl_") or word in exported) and word not in _SHARED
        return f"{word}_v{number}" if renamed else word

    return with_words(text, numbered)


def _union(flags: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(flag for part in flags for flag in part))
