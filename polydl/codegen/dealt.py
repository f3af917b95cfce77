"""Loops that gcc deals out to threads by itself, for as many as they were compiled for, or on the calling thread alone.

How many take part is fixed in what gcc makes of such loops: OpenMP is not asked. So there are two copies of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polydl.codegen import function_text, team
from polydl.codegen.unit_names import alone_name, dealt_name
from polydl.ir.kernel import KernelSource
from polydl.ir.scop import Scop

_FLAG = "-ftree-parallelize-loops="
# Inlined, its loops would be compiled like those of what calls it.
_ATTRIBUTES = """\
#if defined __GNUC__ && !defined __clang__
__attribute__((noinline, optimize("tree-parallelize-loops={threads}")))
#endif
"""
#: What the copies are chosen by.
SUPPORT = """\
/* Whether as many threads may take part as loops were dealt out to. */
static int polydl_has_threads(int threads)
{
#ifdef _OPENMP
  int omp_get_max_threads(void);
  return omp_get_max_threads() >= threads;
#else
  (void)threads;
  return 0;
#endif
}"""


def dealing(threads: int) -> str:
    """The flag by which gcc deals loops out to that many."""
    return f"{_FLAG}{threads}"


def dealt_to(build: KernelSource) -> int:
    """How many threads gcc deals the loops of a build out to; 0 if it does not."""
    return next((int(flag.removeprefix(_FLAG)) for flag in build.compile_flags if flag.startswith(_FLAG)), 0)


def without_dealing(build: KernelSource) -> KernelSource:
    """The same where nothing but functions that ask for it is dealt out."""
    flags = tuple(flag for flag in build.compile_flags if not flag.startswith(_FLAG))
    return replace(build, compile_flags=flags)


def both_copies(scop: Scop, lines: Sequence[str], threads: int) -> list[str]:
    """The source's function twice, with ``lines`` in place of its region: dealt out to ``threads``, and as it is."""
    name, text = scop.function.name, function_text.body(scop, lines)
    attributes = _ATTRIBUTES.format(threads=threads)
    return [
        *function_text.copied(scop, dealt_name(name), text, attributes),
        *function_text.copied(scop, alone_name(name), text),
    ]


def chosen_copy(scop: Scop, threads: int) -> list[str]:
    """What a function with the source's parameters has behind its opening brace: it runs one of the two copies."""
    function = scop.function
    arguments = ", ".join(parameter.name for parameter in function.parameters)
    dealt, alone = (f"{of(function.name)}({arguments})" for of in (dealt_name, alone_name))
    if function.return_type == "void":
        calls, result = [f"  if (polydl_has_threads({threads}))", f"    {dealt};", "  else", f"    {alone};"], []
    else:
        choice = f"polydl_has_threads({threads}) ? {dealt} : {alone}"
        calls, result = [f"  {function.return_type} polydl_result = {choice};"], ["  return polydl_result;"]
    return ["", *team.judged(calls, "  "), *result, "}"]
