"""Loops whose iterations threads share out: the outermost ones that the plan names."""

from __future__ import annotations

from dataclasses import replace

from polydl.codegen.context import Context
from polydl.codegen.loop_ir import Body, For, Node, with_bodies


def run(ir: Body, context: Context) -> Body:
    """Outermost loops that the plan has on threads are marked as parallel; those inside one that is marked are not."""

    def visited(node: Node) -> Node:
        if isinstance(node, For) and context.is_parallel(node):
            return replace(node, parallel=True)
        return with_bodies(node, lambda inside: tuple(map(visited, inside)))

    return tuple(map(visited, ir))
