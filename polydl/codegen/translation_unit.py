"""A variant as a complete C file: the user's source with its region replaced, a header, and a harness."""

from __future__ import annotations

import re
from collections.abc import Sequence

from polydl import bfloat16
from polydl.codegen import print_c, transforms
from polydl.codegen.calls import annotated_call, iterator_values, microkernel_call
from polydl.codegen.epilogue import epilogue_definition
from polydl.codegen.loop_ir import Body, Call, For, Node, nodes
from polydl.codegen.loops import loops
from polydl.codegen.original import defines, harness, header, include_flags
from polydl.codegen.storage import LocalStorage, local_storage
from polydl.codegen.support import needed
from polydl.codegen.values import Expr
from polydl.ir.kernel import KernelSource
from polydl.ir.scop import Scop
from polydl.plan.apply import Applied
from polydl.plan.nest_plan import NestPlan
from polydl.plan.next_tile import with_first_copy_only
from polydl.vector_functions import called, from_library, prototypes, roots

# Pragmas that only this tool reads, with their continuation lines.
_OWN_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+(scop|endscop|polydl)\b(.*\\\n)*.*\n?", re.MULTILINE)


def generate(applied: Applied, vector_bytes: int) -> KernelSource:
    """The C of a variant, with vectors of ``vector_bytes`` where loops fill them.

    Raises CodegenError. Unless the variant may reassociate, the functions that are called stay scalar.
    """
    scop, plan, sites = applied.scop, applied.plan, applied.sites
    exact = not applied.reassociate

    def call(nest: NestPlan, values: Sequence[Expr]) -> Node:
        statement = scop.statement(nest.nest.statements[0])
        if nest.nest.transform is not None:
            iterators = iterator_values(nest, statement.depth, values)
            return transforms.invocation(scop, statement, nest.nest.transform, iterators)
        if nest.nest.annotated is not None:
            return Call(annotated_call(scop, nest, values), statement.name, tuple(values))
        return Call(microkernel_call(scop, sites[nest.nest.index], values), statement.name, tuple(values))

    spared = {*applied.absorbed, *applied.finished}
    omitted = [name for nest in plan.nests if nest.nest.index in spared for name in nest.nest.statements]
    made = with_first_copy_only(scop, [site.next_tile for site in sites.values() if site.next_tile is not None])
    code = loops(
        made,
        plan,
        dict(enumerate(applied.directions)),
        call,
        omitted=omitted,
        exact=exact,
        vector_bytes=vector_bytes,
    )
    storage = local_storage(made)
    declarations = storage.declarations
    body = [*declarations, *print_c.lines(code, 2)]
    emitted = [(site, site.kernel.emit(site.gemm, vector_bytes)) for site in sites.values()]
    setups = [each.setup for _, each in emitted if each.setup]
    includes = list(dict.fromkeys([*(name for _, each in emitted for name in each.includes), *storage.includes]))
    if setups:
        includes.append("pthread.h")
        body.insert(len(declarations), "    pthread_once(&polydl_once, polydl_setup);")
    body[len(declarations) : len(declarations)] = [each.start for _, each in emitted if each.start]
    definitions = [
        *storage.definitions,
        *(
            epilogue_definition(scop, site.epilogue, site.gemm, vector_bytes)
            for site in sites.values()
            if site.epilogue
        ),
    ]
    definitions += [each.definitions for _, each in emitted]
    definitions += [
        transforms.definition(scop, scop.statement(nest.nest.statements[0]), nest.nest.transform, vector_bytes)
        for nest in plan.nests
        if nest.nest.transform is not None
    ]
    if any(bfloat16.ELEMENT in (site.gemm.element, site.gemm.type_b) for site in sites.values()):
        definitions.insert(0, f"typedef unsigned short {bfloat16.ELEMENT};")
    if setups:
        definitions += [
            "static pthread_once_t polydl_once = PTHREAD_ONCE_INIT;",
            "\n".join(["static void polydl_setup(void)", "{", *setups, "}"]),
        ]
    functions = () if exact else from_library(scop, called(scop.statements))
    start, end = scop.region
    preamble = [
        *(f"#include <{name}>" for name in includes),
        # Counters that the source declared outside its loops have no use any more.
        '#pragma GCC diagnostic ignored "-Wunused-variable"',
        # Nor need every compiler manage to use vectors wherever that is allowed.
        *(
            ["#ifdef __clang__", '#pragma clang diagnostic ignored "-Wpass-failed"', "#endif"]
            if _fills_vectors(code)
            else []
        ),
        *(() if exact else roots(scop, called(scop.statements))),
        *prototypes(functions),
        "",
        *needed(code),
        *definitions,
        "",
    ]
    text = "\n".join(
        [
            *preamble,
            defines(scop) + _exported(scop, bfloat16.with_header(scop.source[:start])).rstrip(" \t"),
        ]
    )
    text = text.rstrip("\n") + "\n" + "\n".join(_guarded(scop, storage, body)) + "\n" + scop.source[end:].lstrip("\n")
    return KernelSource(
        id=plan.variant.id,
        function=scop.function.name,
        c=text,
        header=header(scop),
        harness=harness(scop),
        compile_flags=include_flags(scop),
        link_flags=tuple(dict.fromkeys(flag for site in sites.values() for flag in site.kernel.link_flags())),
        microkernels=applied.uses,
        vector_functions=functions,
    )


def _exported(scop: Scop, text: str) -> str:
    """The function without ``static`` and ``inline``, so that the emitted library offers what its header declares."""
    pattern = rf"\b(?:static|inline)\b\s*(?=[\w\s*]*\b{re.escape(scop.function.name)}\s*\()"
    return re.sub(pattern, "", text)


def _guarded(scop: Scop, storage: LocalStorage, body: Sequence[str]) -> list[str]:
    """Sizes that are parameters were fixed for this code; for others, or without memory, the original nest runs."""
    conditions = [f"{p.name} == {p.value}" for p in scop.function.parameters if p.value is not None]
    if storage.condition:
        conditions.append(storage.condition)
    if not conditions:
        return ["  {", *body, "  }"]
    start, end = scop.region
    source = _OWN_PRAGMA.sub("", scop.source[start:end]).strip("\n")
    return [f"  if ({' && '.join(conditions)}) {{", *body, "  } else {", source, "  }"]


def _fills_vectors(body: Body) -> bool:
    """Whether a loop is to be run with vector instructions."""
    return any(
        isinstance(node, For) and node.pragma is not None and "simd" in node.pragma.directive for node in nodes(body)
    )
