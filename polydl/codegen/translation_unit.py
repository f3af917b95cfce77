"""A variant as a complete C file: the user's source with its region replaced, a header, and a harness."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from polydl import bfloat16
from polydl.codegen import function_text, print_c, processor, team, transforms
from polydl.codegen.calls import annotated_call, iterator_values, microkernel_call
from polydl.codegen.facts import call_facts, temporary_arrays
from polydl.codegen.header import interface
from polydl.codegen.kept_memory import KeptMemory
from polydl.codegen.loop_ir import Body, For, Node, Pragma, at_file_scope, expressions, nodes
from polydl.codegen.loops import loops
from polydl.codegen.original import compile_flags, defines, harness
from polydl.codegen.passes.thread_choice import has_threads, with_choice
from polydl.codegen.prepared import Steps, two_functions
from polydl.codegen.prepared import harness as prepared_harness
from polydl.codegen.storage import local_storage
from polydl.codegen.support import needed
from polydl.codegen.values import Element, Expr
from polydl.contracts import Microkernel
from polydl.ir.ingredients import Ingredients, together
from polydl.ir.kernel import KernelSource, StaticLibrary
from polydl.ir.scop import Scop
from polydl.plan.apply import Applied
from polydl.plan.call_sites import CallSite
from polydl.plan.nest_plan import NestPlan
from polydl.plan.next_tile import with_first_copy_only
from polydl.vector_functions import called, from_library, prototypes, roots

#: Diagnostics that generated code does without.
DIAGNOSTICS = (
    # Counters that the source declared outside its loops have no use any more.
    '#pragma GCC diagnostic ignored "-Wunused-variable"',
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
    scop, plan = applied.scop, applied.plan
    sites = {index: _with_suffix(site, suffix) for index, site in applied.sites.items()}
    transform_calls = {
        nest.nest.index: replace(nest.nest.transform, call=f"{nest.nest.transform.call}{suffix}")
        for nest in plan.nests
        if nest.nest.transform is not None
    }
    exact = applied.keeps_products

    def call(nest: NestPlan, values: Sequence[Expr]) -> Node:
        statement = scop.statement(nest.nest.statements[0])
        if nest.nest.index in transform_calls:
            iterators = iterator_values(nest, statement.depth, values)
            return transforms.invocation(scop, statement, transform_calls[nest.nest.index], iterators)
        if nest.nest.annotated is not None:
            return annotated_call(scop, nest, values)
        return microkernel_call(scop, sites[nest.nest.index], values)

    spared = {*applied.absorbed, *applied.finished}
    omitted = [name for nest in plan.nests if nest.nest.index in spared for name in nest.nest.statements]
    part = applied.prepared
    made = with_first_copy_only(scop, [site.next_tile for site in sites.values() if site.next_tile is not None])

    def looped(others: Collection[str]) -> Body:
        """The loops without those of ``others``."""
        return loops(
            made,
            plan,
            dict(enumerate(applied.directions)),
            call,
            omitted=(*omitted, *others),
            calls={site.statement.name: call_facts(scop, site, vector_bytes) for site in sites.values()},
            numerics=applied.rewritten.numerics,
            vector_bytes=vector_bytes,
        )

    preparing = looped(frozenset(each.name for each in scop.statements) - part.statements) if part.nests else ()
    running = looped(part.statements)
    code = (*preparing, *running)
    called_for = [name for nest in plan.nests if nest.inner for name in nest.nest.statements]
    storage = local_storage(_without_unused(made, code, {*omitted, *called_for}), part)
    memory = KeptMemory(storage.kept, part.bytes)
    emitted = [(site, site.kernel.emit(site.gemm, vector_bytes)) for site in sites.values()]
    setups = [each.setup for _, each in emitted if each.setup]

    def body_of(declarations: Sequence[str], code: Body, prepares: bool) -> list[str]:
        starts = [each.start for site, each in emitted if each.start and (site.nest in part.nests) == prepares]
        once = ["    pthread_once(&polydl_once, polydl_setup);"] if setups else []
        return [*declarations, *starts, *once, *print_c.lines(code, 2)]

    body = body_of(storage.declarations, running, False)
    includes = ["stddef.h", *(name for _, each in emitted for name in each.includes), *memory.includes]
    if setups:
        includes.append("pthread.h")
    support = needed(code)
    transformed = [
        transforms.definition(
            scop, scop.statement(nest.nest.statements[0]), transform_calls[nest.nest.index], vector_bytes
        )
        for nest in plan.nests
        if nest.nest.index in transform_calls
    ]
    calls_functions = any(site.epilogue and site.epilogue.calls for site in sites.values())
    definitions = [
        *memory.definitions(),
        *(["#include <math.h>"] if calls_functions else []),
        *_declarations(scop, sites.values()),
        *map(print_c.definition, at_file_scope(code)),
        *(each.definitions for _, each in emitted),
        *(each.text for each in transformed),
    ]
    if any(bfloat16.ELEMENT in (site.gemm.element, site.gemm.type_b) for site in sites.values()):
        definitions.insert(0, f"typedef unsigned short {bfloat16.ELEMENT};")
    if setups:
        definitions += [
            "static pthread_once_t polydl_once = PTHREAD_ONCE_INIT;",
            "\n".join(["static void polydl_setup(void)", "{", *setups, "}"]),
        ]
    functions = () if exact else from_library(scop, called(scop.statements))
    declared = [*(() if exact else roots(scop, called(scop.statements))), *prototypes(functions)]
    kept = [sentence for site in sites.values() for sentence in site.kernel.kept_memory]
    threaded = has_threads(running)
    contents = interface(
        scop, memory, kept, threaded=has_threads(code), chosen=threaded, combined=_adds_up(running), exported=exported
    )
    beside = [memory.release(contents.release), processor.question(contents.missing)]
    preamble = [
        *(f"#include <{name}>" for name in dict.fromkeys(includes)),
        *(DIAGNOSTICS if _fills_vectors(code) else DIAGNOSTICS[:1]),
        *declared,
        "",
        *([] if suffix else [processor.definitions()]),
        *(each.text for each in support),
        *([team.support(), team.STATE] if threaded else []),
        *definitions,
        "",
    ]
    tuned = shown = _guarded(scop, memory, body)
    if threaded:
        choosing = body_of(storage.declarations, with_choice(running), False)
        tuned = _guarded(scop, memory, team.judged(choosing, "    "))
    if contents.prepared is None:
        functions_text = function_text.with_both(scop, tuned, beside, contents.function)
    else:
        steps = Steps(body_of(storage.preparing, preparing, True) if preparing else (), tuned)
        functions_text = two_functions(scop, steps, memory, contents, beside)
    text = "\n".join([*preamble, defines(scop) + functions_text])
    if declared or calls_functions:
        includes.append("math.h")
    ingredients = [
        Ingredients((*dict.fromkeys(includes), *([] if suffix else processor.INCLUDES)), chooses_threads=threaded),
        *(each.ingredients for each in (*support, *transformed)),
        *(each.ingredients for _, each in emitted),
    ]
    return KernelSource(
        id=plan.variant.id,
        function=contents.function,
        c=text,
        excerpt=function_text.with_region(scop, shown),
        interface=contents,
        harness=harness(scop, contents.function) if contents.prepared is None else prepared_harness(scop, contents),
        compile_flags=compile_flags(scop),
        link_flags=tuple(dict.fromkeys(flag for site in sites.values() for flag in site.kernel.link_flags())),
        static_libraries=_static_libraries(site.kernel for site in sites.values()),
        microkernels=applied.uses,
        vector_functions=functions,
        ingredients=together(ingredients),
    )


def _declarations(scop: Scop, sites: Iterable[CallSite]) -> list[str]:
    """The source's own functions that what microkernels apply to their results calls before they are defined."""
    applied = [each.statement for site in sites if site.epilogue is not None for each in site.epilogue.statements]
    names = called(applied)
    return [f"{function.declaration};" for function in scop.functions if function.name in names]


def _without_unused(scop: Scop, code: Body, beside: Collection[str]) -> Scop:
    """The scop without those of its own arrays that the code leaves in registers.

    ``beside`` are statements that calls stand for, whose arrays aren't all seen in the code.
    """
    mentioned = {value.array for value in expressions(code) if isinstance(value, Element)}
    accessed = {access.array for each in scop.statements if each.name in beside for access in each.accesses}
    unused = temporary_arrays(scop, [each.name for each in scop.statements]) - mentioned - accessed
    return replace(scop, arrays=tuple(array for array in scop.arrays if array.name not in unused))


def _with_suffix(site: CallSite, suffix: str) -> CallSite:
    return replace(site, gemm=replace(site.gemm, prefix=f"{site.gemm.prefix}{suffix}"))


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
