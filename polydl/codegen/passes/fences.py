"""Fences: what was written past the caches is in memory before anything that follows."""

from __future__ import annotations

from polydl.codegen.context import Context
from polydl.codegen.loop_ir import Body, Evaluate, Node, ParallelRegion, bodies, mapped
from polydl.codegen.values import Apply

FENCE = Evaluate(Apply("polydl_streamed", ()))


def run(ir: Body, context: Context) -> Body:  # noqa: ARG001
    """Every thread of a region waits at its end, and whoever writes outside of one at the end of all."""

    def fenced(node: Node) -> Node:
        return ParallelRegion((*node.body, FENCE)) if isinstance(node, ParallelRegion) else node

    made = mapped(ir, fenced)
    return (*made, FENCE) if _unfenced(made) else made


def streams(node: Node) -> bool:
    """Whether a node writes past the caches."""
    return isinstance(node, Evaluate) and isinstance(node.value, Apply) and node.value.function == "polydl_stream"


def _unfenced(body: Body, before: bool = False) -> bool:
    """Whether no region ends after the last that is written past the caches."""
    for node in body:
        for inside in bodies(node):
            before = _unfenced(inside, before)
        before = (before or streams(node)) and not isinstance(node, ParallelRegion)
    return before
