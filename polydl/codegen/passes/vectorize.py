"""Loops that are run with vector instructions: innermost ones, where the dependences allow it."""

from __future__ import annotations

from dataclasses import replace

from polydl.codegen.context import Context
from polydl.codegen.loop_ir import Body, For, Node, has_loop, mapped, statements


def run(ir: Body, context: Context) -> Body:
    """Innermost loops whose iterations may fill vectors are marked as vector loops; nothing else changes."""

    def marked(node: Node) -> Node:
        if (
            isinstance(node, For)
            and statements(node.body)
            and not has_loop(node.body)
            and context.may_fill_vectors(node)
        ):
            return replace(node, vector=True)
        return node

    return mapped(ir, marked)
