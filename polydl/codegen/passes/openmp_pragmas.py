"""OpenMP's directives for the loops that run on threads, and for those that fill vectors."""

from __future__ import annotations

from dataclasses import replace

from polydl.codegen import openmp
from polydl.codegen.context import Context
from polydl.codegen.loop_ir import Body, For, Node, ParallelRegion, mapped, nodes
from polydl.codegen.passes.fences import streams
from polydl.codegen.values import mentions


def run(ir: Body, context: Context) -> Body:
    """Where each thread has something to do after its part of a loop, the loop isn't all of a parallel region."""

    def changed(node: Node) -> Node:
        if not isinstance(node, For) or node.pragma is not None or not (node.parallel or node.vector):
            return node
        if node.vector:
            kind = "parallel for simd" if node.parallel else "simd"
            return replace(node, pragma=openmp.directive(kind, node, context, simdlen=openmp.simdlen(node, context)))
        region = any(map(streams, nodes(node.body)))
        kind = "for" if region else "parallel for"
        collapse = 2 if _collapses(node, context) else 0
        made = replace(node, pragma=openmp.directive(kind, node, context, collapse=collapse))
        return ParallelRegion((made,)) if region else made

    return mapped(ir, changed)


def _collapses(loop: For, context: Context) -> bool:
    """Whether the loop inside is dealt out as well, has the same iterations each time, and needs nothing around it."""
    match loop.body:
        case (For(before=(), after=(), vector=False, pragma=None) as inner,) if context.is_parallel(inner):
            return not any(mentions(bound, loop.iterator) for bound in (inner.first, inner.condition))
    return False
