"""Calls of ``fmax`` and ``fmin`` become comparisons.

Compilers call the function for each element otherwise, also in a loop that fills vectors: it chooses the number where
the other argument is a NaN, which x86's instruction doesn't.
"""

from __future__ import annotations

from dataclasses import replace

from polydl.codegen.context import Context
from polydl.codegen.extrema import with_extrema
from polydl.codegen.loop_ir import Body, Call, Function, Node, mapped, with_values


def run(ir: Body, context: Context) -> Body:
    """The body with such calls changed, if these functions are those of ``<math.h>``."""
    return mapped(ir, _changed) if context.has_extrema else ir


def _changed(node: Node) -> Node:
    node = with_values(node, with_extrema)
    if not isinstance(node, Call) or not node.definitions:
        return node
    definitions = (
        replace(each, body=mapped(each.body, _changed)) if isinstance(each, Function) else each
        for each in node.definitions
    )
    return replace(node, definitions=tuple(definitions))
