"""A variant as a complete C file: the user's source with its region replaced, a header, and a harness."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from polydl.codegen import function_text, print_c, processor, team
from polydl.codegen.conditions import condition_flags
from polydl.codegen.header import Threads, interface
from polydl.codegen.kept_memory import KeptMemory
from polydl.codegen.kernel_code import KernelCode
from polydl.codegen.loop_ir import Body, For, Pragma, nodes
from polydl.codegen.original import compile_flags, defines, features, harness
from polydl.codegen.parallel_source import makes_threads
from polydl.codegen.passes.thread_choice import has_threads, with_choice
from polydl.codegen.prepared import Steps, two_functions
from polydl.codegen.prepared import harness as prepared_harness
from polydl.contracts import Microkernel
from polydl.ir.ingredients import Ingredients, together
from polydl.ir.interface import Interface
from polydl.ir.kernel import KernelSource, StaticLibrary
from polydl.ir.scop import Scop
from polydl.plan.apply import Applied

#: Diagnostics that generated code does without.
DIAGNOSTICS = (
    # Counters that the source declared outside its loops have no use any more.
    '#pragma GCC diagnostic ignored "-Wunused-variable"',
    # All functions of one kind have the same parameters.
    '#pragma GCC diagnostic ignored "-Wunused-parameter"',
    # Nor need every compiler manage to use vectors wherever that is allowed.
    "#ifdef __clang__",
    '#pragma clang diagnostic ignored "-Wpass-failed"',
    "#endif",
)


def generate(applied: Applied, vector_bytes: int, exported: str = "", suffix: str = "") -> KernelSource:
    """The C of a variant, with vectors of ``vector_bytes`` where loops fill them.

    Raises CodegenError. Where products and functions are to be those of the source, functions stay scalar.
    ``exported`` is how the function is called there, if not as in the source. A ``suffix`` is for kernels that are put
    into one file: it ends the names of transforms and the prefixes of microkernels' names, which others may have as
    well, and whoever puts them there defines ``polydl_fits()`` and ``polydl_missing()`` (``processor.definitions``).
    """
    scop, code = applied.scop, KernelCode(applied, vector_bytes, suffix)
    kernels = [site.kernel for site in code.sites.values()]
    contents = interface(
        scop,
        code.memory,
        [sentence for kernel in kernels for sentence in kernel.kept_memory],
        Threads(has_threads(code.loops) or makes_threads(scop, inside=False), code.threaded, _adds_up(code.running)),
        exported=exported,
    )
    running = _guarded(scop, code.memory, _body(code, code.storage.declarations, code.running))
    return KernelSource(
        id=applied.plan.variant.id,
        function=contents.function,
        c="\n".join([*_preamble(code), defines(scop) + _functions(code, contents, running)]),
        excerpt=function_text.with_region(scop, running),
        interface=contents,
        harness=harness(scop, contents.function) if contents.prepared is None else prepared_harness(scop, contents),
        compile_flags=(*compile_flags(scop), *condition_flags(scop, vector_bytes, applied.rewritten.numerics)),
        link_flags=tuple(dict.fromkeys(flag for kernel in kernels for flag in kernel.link_flags())),
        static_libraries=_static_libraries(kernels),
        microkernels=applied.uses,
        reserved_bytes=code.memory.reserved_bytes,
        vector_functions=code.vector_functions,
        flushes=code.flushes,
        ingredients=_ingredients(code),
    )


def _preamble(code: KernelCode) -> list[str]:
    """What stands before the source's text, in lines or more."""
    return [
        *features(code.applied.scop),
        *(f"#include <{name}>" for name in code.includes),
        *(DIAGNOSTICS if _fills_vectors(code.loops) else DIAGNOSTICS[:1]),
        *code.declared,
        "",
        *([] if code.suffix else [processor.definitions()]),
        *(each.text for each in code.support),
        *([team.support(), team.STATE] if code.threaded else []),
        *code.definitions,
        "",
    ]


def _functions(code: KernelCode, contents: Interface, running: Sequence[str]) -> str:
    """The source's text with the variant's loops in its function, or in two where constants are prepared."""
    scop, memory = code.applied.scop, code.memory
    lines = running
    if code.threaded:
        choosing = _body(code, code.storage.declarations, with_choice(code.running))
        lines = _guarded(scop, memory, team.judged(choosing, "    "))
    tuned = function_text.body(scop, lines)
    beside = [memory.release(contents.release), processor.question(contents.missing)]
    if contents.prepared is None:
        return function_text.with_both(scop, tuned, beside, contents.function)
    preparing = _body(code, code.storage.preparing, code.preparing, prepares=True) if code.preparing else ()
    return two_functions(scop, Steps(preparing, tuned), memory, contents, beside)


def _body(code: KernelCode, declarations: Sequence[str], loops: Body, *, prepares: bool = False) -> list[str]:
    """What a function does: declarations, what microkernels start with, loops."""
    nests = code.applied.prepared.nests
    starts = [each.start for site, each in code.emitted if each.start and (site.nest in nests) == prepares]
    once = ["    pthread_once(&polydl_once, polydl_setup);"] if code.setups else []
    return [*declarations, *starts, *once, *print_c.lines(loops, 2)]


def _ingredients(code: KernelCode) -> Ingredients:
    """What the text has beside plain arithmetic."""
    mathematics = ["math.h"] if code.declared or code.epilogue_calls_functions else []
    headers = (*code.includes, *mathematics, *([] if code.suffix else processor.INCLUDES))
    parts = [each.ingredients for each in (*code.support, *code.transformed)]
    parts += [each.ingredients for _, each in code.emitted]
    own = Ingredients(headers, chooses_threads=code.threaded, combines_sums=_adds_up(code.loops))
    return together([own, *parts])


def _static_libraries(kernels: Iterable[Microkernel]) -> tuple[StaticLibrary, ...]:
    """None if one of the kernels has no such library: then the flags of all are used."""
    linked = [each for each in kernels if each.link_flags()]
    libraries = [each.static_library() for each in linked]
    return tuple(dict.fromkeys(each for each in libraries if each is not None)) if None not in libraries else ()


def _guarded(scop: Scop, memory: KeptMemory, body: Sequence[str]) -> list[str]:
    """Sizes that are parameters were fixed for this code; for others, or without memory, the original nest runs."""
    conditions = [f"{p.name} == {p.value}" for p in scop.function.parameters if p.value is not None]
    if memory.reserved:
        conditions.append("polydl_reserve()")
        body = [*body, "    polydl_leave();"]
    if not conditions:
        return ["  {", *body, "  }"]
    return [f"  if ({' && '.join(conditions)}) {{", *body, "  } else {", function_text.region(scop), "  }"]


def _fills_vectors(body: Body) -> bool:
    """Whether a loop is to be run with vector instructions."""
    return any("simd" in pragma.directive for pragma in _pragmas(body))


def _adds_up(body: Body) -> bool:
    """Whether threads sum up parts that are added at the end."""
    return any(pragma.sums and pragma.directive != "simd" for pragma in _pragmas(body))


def _pragmas(body: Body) -> Iterator[Pragma]:
    """OpenMP's directives for the loops of a body."""
    for node in nodes(body):
        if isinstance(node, For) and node.pragma is not None:
            yield node.pragma
